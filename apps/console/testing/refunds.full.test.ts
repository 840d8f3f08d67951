// Money that goes back once: unknown outcomes, double clicks and disputes in the dialog of a refund.
import t from 'tap'
import { consoleTests, textOf } from './consoleHarness.ts'
import { disputePayment, openPayment, readPayment, readRefunds, readTrail, settlePayment } from './payments.ts'

const test = await consoleTests(t)
const buyer = { email: 'buyer@example.com', total_cents: 4_200 }

test('a refund whose outcome nobody knows is shown as such, and repeated as the same one', async (t, harness) => {
  const { system, open } = harness
  const id = await openPayment(system, buyer)
  await settlePayment(system, id)
  const page = await open(`/payments/${id}`, { expects: /status of 50[234]|ERR_/ })
  const button = page.getByRole('button', { name: 'Refund', exact: true })
  await button.click()
  const dialog = page.getByRole('dialog', { name: 'Refund this payment' })
  await dialog.getByLabel('Amount in EUR').fill('10')
  // The sandbox cannot reach its memory, as a provider that does not respond.
  await system.services.api.kill()
  await system.services.api.start({ SANDBOX_DATABASE_URL: 'postgres://127.0.0.1:1/none' })
  await dialog.getByRole('button', { name: 'Refund EUR 10.00' }).click()
  await dialog.getByText('Nobody knows yet whether it was done').waitFor()
  t.match((await readPayment(system, id)).amount_refunded_cents, 0)
  await page.keyboard.press('Escape')
  await system.services.api.kill()
  await system.services.api.start()
  await page.reload()
  await button.click()
  await dialog.getByText('Nobody knows yet whether it was done').waitFor()
  await dialog.getByRole('button', { name: 'Repeat the refund of EUR 10.00' }).click()
  await dialog.getByText('EUR 10.00 was refunded.').waitFor()
  t.match(await readRefunds(system, id), { length: 1, 0: { amount_cents: 1_000, status: 'succeeded' } })
  t.match(await readTrail(system, id), { length: 1, 0: { action: 'refund_payment' } })

  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await button.click()
  t.match(await textOf(dialog), /Given back beforeEUR 10\.00/)
  await dialog.getByRole('button', { name: 'Refund EUR 32.00' }).click()
  await dialog.getByText('EUR 32.00 was refunded.').waitFor()
  t.match(await readRefunds(system, id), { length: 2 }, 'what follows a shown result is another refund')
})

test('two submissions of a refund in one frame make one refund, and a click after its result does nothing', async (t, harness) => {
  const { system, open } = harness
  const id = await openPayment(system, buyer)
  await settlePayment(system, id)
  const page = await open(`/payments/${id}`)
  const keys: (string | undefined)[] = []
  page.on('request', (request) => {
    if (request.method() === 'POST') keys.push(request.headers()['idempotency-key'])
  })
  await page.getByRole('button', { name: 'Refund', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Refund this payment' })
  await dialog.getByLabel('Amount in EUR').fill('10')
  const confirm = dialog.getByRole('button', { name: 'Refund EUR 10.00' })
  const place = await confirm.boundingBox()
  await confirm.evaluate((element) => {
    const button = element as unknown as { click(): void }
    button.click()
    button.click()
  })
  await dialog.getByText('EUR 10.00 was refunded.').waitFor()
  t.equal(keys.length, 1)
  t.match(await readRefunds(system, id), { length: 1 })
  t.match(await readTrail(system, id), { length: 1 })

  const close = await dialog.getByRole('button', { name: 'Close' }).last().boundingBox()
  if (!place || !close) throw new Error('the buttons are not shown')
  t.ok(close.x + close.width <= place.x, 'what closes is beside what confirmed')
  await page.mouse.click(place.x + place.width / 2, place.y + place.height / 2)
  t.ok(await dialog.isVisible(), 'a second click there does not close it unread')
  t.equal(keys.length, 1)
})

test('a refund that is still in flight is repeated with its key until its result is there', async (t, harness) => {
  const { system, open } = harness
  const id = await openPayment(system, buyer)
  await settlePayment(system, id)
  const page = await open(`/payments/${id}`, { expects: /status of 409/ })
  const keys: (string | undefined)[] = []
  await page.route('**/refunds', async (route) => {
    keys.push(route.request().headers()['idempotency-key'])
    if (keys.length > 2) return route.continue()
    await route.fetch()
    const error = { code: 'idempotency_key_in_flight', message: 'The first request is still in progress' }
    await route.fulfill({ status: 409, json: { success: false, error } })
  })
  await page.getByRole('button', { name: 'Refund', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Refund this payment' })
  await dialog.getByLabel('Amount in EUR').fill('10')
  await dialog.getByRole('button', { name: 'Refund EUR 10.00' }).click()
  await dialog.getByText('The same request is being repeated').waitFor()
  await dialog.getByText('EUR 10.00 was refunded.').waitFor()
  t.match(keys, { length: 3, 1: keys[0], 2: keys[0] })
  t.match(await readRefunds(system, id), { length: 1 })
  t.match(await readTrail(system, id), { length: 1 })
})

test('the dialog of a refund warns of an open dispute', async (t, { system, open }) => {
  const id = await openPayment(system, buyer)
  await settlePayment(system, id)
  await disputePayment(system, id)
  const page = await open(`/payments/${id}`)
  await page.getByRole('button', { name: 'Refund', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Refund this payment' })
  await dialog.getByRole('alert').waitFor()
  t.match(await textOf(dialog), /Given back beforeEUR 0\.00.*opened a dispute about EUR 42\.00/)
})
