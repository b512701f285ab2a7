export default function NewSessionScreen() {
  return (
    <section class="screen">
      <h1>New session</h1>
    </section>
  );
}
