export default function SessionsScreen() {
  return (
    <section class="screen">
      <h1>Sessions</h1>
    </section>
  );
}
