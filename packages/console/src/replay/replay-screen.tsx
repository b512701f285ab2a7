export default function ReplayScreen() {
  return (
    <section class="screen">
      <h1>Replay</h1>
    </section>
  );
}
