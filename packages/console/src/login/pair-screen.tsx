export default function PairScreen() {
  return (
    <section class="screen">
      <h1>Pair a device</h1>
    </section>
  );
}
