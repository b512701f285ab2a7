export default function LoginScreen() {
  return (
    <section class="screen">
      <h1>Log in</h1>
    </section>
  );
}
