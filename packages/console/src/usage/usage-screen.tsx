export default function UsageScreen() {
  return (
    <section class="screen">
      <h1>Usage</h1>
    </section>
  );
}
