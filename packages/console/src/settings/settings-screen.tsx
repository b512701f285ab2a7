export default function SettingsScreen() {
  return (
    <section class="screen">
      <h1>Settings</h1>
    </section>
  );
}
