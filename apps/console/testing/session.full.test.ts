// Who may use the console, and what happens when a session ends.
import { createServer } from 'node:http'
import { listen } from '@paylog/testing/fakeServer'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { admin, consoleTests, textOf } from './consoleHarness.ts'
import { openPayment, readPayment, settlePayment } from './payments.ts'

const test = await consoleTests(t, { env: { CONSOLE_SESSION_COOKIE: 'sid' } })
const rejected = { status: 401, body: JSON.stringify({ success: false }) }

test('a session that is not an administrator’s sees 403, and an unknown one the sign-in', async (t, { open }) => {
  const page = await open('/payments', { signedIn: false, expects: /status of 40[13]/ })
  const signInWith = async (session: string) => {
    await page.getByLabel('Session id').fill(session)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }
  await signInWith('no-such-session')
  await page.getByText('This session is unknown or has expired').waitFor()
  await signInWith('demo-session')
  await page.getByText('You are signed in as ada@example.com').waitFor()
  t.notMatch(await textOf(page.locator('body')), /Overview|Payments/)
  await page.getByRole('button', { name: 'Use another session' }).click()
  await signInWith('demo-admin-session')
  await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor()
  t.match(page.url(), /\/console\/payments$/, 'where one wanted to go')
})

test('the session of a link leaves the address, stays in the tab and ends with it', async (t, { open, browser }) => {
  // Where cookies count, it asks first whether one is signed in.
  const page = await open('/payments', { expects: /status of 401/ })
  await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor()
  t.notMatch(page.url(), /session/)
  t.equal(await page.evaluate('JSON.stringify([{ ...localStorage }, document.cookie])').then(String), '[{},""]')
  t.match(await page.evaluate('JSON.stringify({ ...sessionStorage })'), /demo-admin-session/)
  const other = await page.context().newPage()
  await other.goto(page.url())
  await other.getByLabel('Session id').waitFor()
  t.pass(`another tab has no session (${browser.version()})`)
})

test('a link with another session asks before it replaces the present one, and staying is the default', async (t, harness) => {
  const { system, open } = harness
  const page = await open('/payments', { expects: /status of 40[13]/ })
  await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor()
  const dialog = page.getByRole('dialog', { name: 'A link wants to sign in another session' })
  const follow = () => page.goto(`${system.baseUrl}/console/payments#session=demo-session`)
  const stored = () => page.evaluate('sessionStorage.getItem("paylog.session")')
  for (const key of ['Enter', 'Escape']) {
    await follow()
    await dialog.waitFor()
    t.match(await textOf(dialog), /signed in as admin@example\.com/)
    t.notMatch(page.url(), /session/)
    await page.reload()
    await dialog.waitFor()
    await page.keyboard.press(key)
    await dialog.waitFor({ state: 'hidden' })
    t.equal(await stored(), 'demo-admin-session')
  }
  await follow()
  await dialog.getByRole('button', { name: 'Use the session of the link' }).click()
  await page.getByText('You are signed in as ada@example.com').waitFor()
  t.equal(await stored(), 'demo-session')
})

test('a session that expires in a dialog is replaced, and the refund is made once', async (t, { system, open }) => {
  const id = await openPayment(system, { email: 'buyer@example.com', total_cents: 4_200 })
  await settlePayment(system, id)
  const page = await open(`/payments/${id}`, { expects: /status of 401/ })
  await page.getByRole('button', { name: 'Refund', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Refund this payment' })
  await dialog.getByLabel('Amount in EUR').fill('12.34')
  system.identity.breakWith(rejected)
  await dialog.getByRole('button', { name: 'Refund EUR 12.34' }).click()
  const expired = page.getByRole('dialog', { name: 'Your session has expired' })
  await expired.waitFor()
  t.equal((await readPayment(system, id))?.amount_refunded_cents, undefined, 'nobody is let in meanwhile')
  system.identity.breakWith(undefined)
  await expired.getByLabel('Session id').fill('demo-admin-session')
  await expired.getByRole('button', { name: 'Sign in' }).click()
  await expired.waitFor({ state: 'hidden' })
  t.equal(await dialog.getByLabel('Amount in EUR').inputValue(), '12.34', 'what was filled in is still there')
  await dialog.getByRole('button', { name: 'Refund EUR 12.34' }).click()
  await dialog.getByText('EUR 12.34 was refunded.').waitFor()
  const response = await fetch(`${system.baseUrl}/payments/${id}/refunds`, { headers: admin })
  t.match(JSON.parse(await response.text()).data, [{ amount_cents: 1_234, status: 'succeeded' }])
  t.equal((await readPayment(system, id)).amount_refunded_cents, 1_234)
})

test('with the cookie of the identity backend nobody signs in, and the page never sees it', async (t, harness) => {
  const { system, open, browser } = harness
  const cookie = { name: 'sid', value: 'demo-admin-session', domain: '127.0.0.1', path: '/', expires: -1 }
  const kinds = { httpOnly: true, secure: false, sameSite: 'Lax' as const }
  const storageState = { cookies: [{ ...cookie, ...kinds }], origins: [] }
  const page = await open('/payments', { signedIn: false, storageState })
  await page.getByRole('heading', { name: 'Payments', level: 1 }).waitFor()
  t.match(await textOf(page.locator('body')), /admin@example\.com/)
  t.equal(await page.evaluate('document.cookie'), '')

  // A page of another port is of the same site, so that the browser sends it the cookie; of another origin, so that it has no header.
  const id = await openPayment(system, { email: 'buyer@example.com', total_cents: 4_200 })
  const target = `${system.baseUrl}/payments/${id}/cancel`
  const attack = `<script>
    const send = (init) => fetch('${target}', { method: 'POST', credentials: 'include', ...init }).then(
      () => 'sent', () => 'refused')
    const json = { 'content-type': 'application/json' }
    Promise.all([send({}), send({ mode: 'no-cors' }), send({ body: '{}', headers: json }),
      send({ headers: { 'x-paylog-console': '1' } })]).then((all) => { document.title = all.join() })
  </script>`
  const evil = await listen(
    t,
    createServer((_request, response) => response.setHeader('content-type', 'text/html').end(attack)),
  )
  const context = await browser.newContext({ storageState })
  const attacker = await context.newPage()
  await attacker.goto(evil)
  await waitFor(async () => (await attacker.title()) !== '', { what: 'the attack' })
  t.equal(await attacker.title(), 'refused,refused,refused,refused')
  t.equal((await readPayment(system, id)).status, 'pending')
  await context.close()
})
