export default function InboxScreen() {
  return (
    <section class="screen">
      <h1>Inbox</h1>
    </section>
  );
}
