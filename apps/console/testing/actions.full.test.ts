// Each action of the console, through to the log.
import { randomUUID } from 'node:crypto'
import { waitFor } from '@paylog/testing/waitFor'
import pg from 'pg'
import t from 'tap'
import { addFilter, admin, consoleTests, textOf } from './consoleHarness.ts'
import { openPayment, readPayment, settlePayment } from './payments.ts'

let isGone = false
const test = await consoleTests(t, {
  payments: 20,
  respond(response) {
    response.statusCode = isGone ? 410 : 200
    response.end('ok')
  },
})
const buyer = { email: 'buyer@example.com', total_cents: 4_200 }

test('cancel ends a pending payment, with its reason', async (t, { system, open }) => {
  const id = await openPayment(system, buyer)
  const page = await open(`/payments/${id}`)
  await page.getByRole('button', { name: 'Cancel', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Cancel this payment' })
  t.match(await textOf(dialog), /EUR 42\.00.*buyer@example\.com/)
  await dialog.getByLabel('Reason', { exact: true }).fill('asked by phone')
  await dialog.getByLabel('Reason for the audit trail').fill('Ticket 4711, für „Ada“')
  await dialog
    .getByRole('button', { name: /^Cancel/ })
    .last()
    .click()
  await dialog.getByRole('status').waitFor()
  t.match(await readPayment(system, id), { status: 'canceled' })
  await page.goto(`${system.baseUrl}/console/audit?target=${id}`)
  const trail = page.getByRole('table', { name: 'actions' })
  await trail.getByText('done', { exact: true }).waitFor()
  t.match(await textOf(trail), /Cancellation of a payment.*Ticket 4711, für „Ada“.*admin@example\.com/s)
  await trail.getByRole('link', { name: 'Cancellation of a payment' }).click()
  await page.waitForURL(new RegExp(`/payments/${id}`))
})

test('capture takes a part of an authorized payment', async (t, { system, open }) => {
  const id = await openPayment(system, { ...buyer, capture_method: 'manual' })
  await settlePayment(system, id, 'processing', { status: 'requires_capture', amount_capturable: 4_200 })
  const page = await open(`/payments/${id}`)
  await page.getByRole('button', { name: 'Capture', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Capture this payment' })
  await dialog.getByLabel('Amount in EUR').fill('40')
  await dialog.getByRole('button', { name: 'Capture EUR 40.00' }).click()
  await dialog.getByRole('status').waitFor()
  await waitFor(async () => (await readPayment(system, id)).status === 'succeeded', { what: 'the capture' })
  t.match(await readPayment(system, id), { amount_received_cents: 4_000 })
})

test('refresh asks the provider about the payment', async (t, { system, open }) => {
  const id = await openPayment(system, buyer)
  const page = await open(`/payments/${id}`)
  await page.getByRole('button', { name: 'Refresh', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Refresh this payment' })
  await dialog.getByRole('button', { name: 'Ask the provider' }).click()
  await dialog.getByRole('status').waitFor()
  t.match(await readPayment(system, id), { status: 'pending' })
})

test('a provider is asked whether it accepts the credentials', async (t, { open }) => {
  const page = await open('/providers')
  await page.getByRole('button', { name: 'Check Sandbox now' }).click()
  t.match(await textOf(page.getByRole('status').first()), /The sandbox runs here and needs no credentials.*Asked at/)
})

test('a test webhook arrives, a delivery is sent again, a paused endpoint is enabled', async (t, harness) => {
  const { endpoint, open } = harness
  const page = await open('/webhooks')
  await page.getByRole('button', { name: 'Send a test' }).click()
  const dialog = page.getByRole('dialog', { name: 'Send a test' })
  await dialog.getByRole('button', { name: 'Send' }).click()
  await dialog.getByText('Sent to 1 endpoint').waitFor()
  const isTest = () => endpoint.received.find(({ headers }) => headers['webhook-test'] === 'true')
  const first = await waitFor(isTest, { what: 'the test webhook' })
  await page.getByRole('button', { name: 'Close' }).last().click()

  await addFilter(page, 'Event', JSON.parse(first.body).event)
  await addFilter(page, 'Test', 'Yes')
  await page
    .getByRole('link', { name: JSON.parse(first.body).event })
    .first()
    .click()
  await page.getByRole('button', { name: 'Redeliver' }).click()
  isGone = true
  await page.getByRole('dialog').getByRole('button', { name: 'Redeliver' }).click()
  const sent = () => endpoint.received.filter(({ id }) => id === first.id)
  await waitFor(() => sent().length === 2, { what: 'the same webhook once more' })
  await page.getByRole('button', { name: 'Close' }).last().click()
  t.equal(sent()[1]?.body, first.body)

  await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click()
  await page.getByRole('link', { name: /^127\.0\.0\.1/ }).click()
  await page.getByRole('button', { name: 'Enable' }).click({ timeout: 60_000 })
  isGone = false
  await page.getByRole('dialog').getByRole('button', { name: 'Enable' }).click()
  await waitFor(() => sent().length === 3, { what: 'the waiting webhook', timeoutMs: 20_000 })
})

test('a backfill counts first, then creates what the endpoint never got', async (t, { open, endpoint, system }) => {
  const pool = new pg.Client({ connectionString: system.databaseUrl })
  await pool.connect()
  const lost = await pool.query("delete from webhooks.finished_deliveries where event = 'payment.created' returning id")
  await pool.end()
  t.ok(lost.rowCount)
  const page = await open('/webhooks/endpoints/1')
  await page.getByRole('button', { name: 'Backfill' }).click()
  const dialog = page.getByRole('dialog', { name: /^Backfill/ })
  await dialog.getByRole('button', { name: 'Count them (dry run)' }).click()
  const before = endpoint.received.length
  await dialog.getByRole('button', { name: /^Create \d+ deliver/ }).click()
  await waitFor(() => endpoint.received.length >= before + lost.rows.length, { what: 'the missing webhooks' })
})

test('a read model is verified and rebuilt', async (t, { open, system }) => {
  const page = await open('/system')
  for (const [action, outcome] of [
    ['Verify', /equal|same|match/i],
    ['Rebuild', /payments_v2/],
  ] as const) {
    await page.getByRole('button', { name: `${action} payments`, exact: true }).click()
    await page.getByRole('dialog').getByRole('button', { name: action }).click()
    await page.getByRole('link', { name: 'Follow the job' }).click()
    await page.getByRole('heading', { name: 'Result' }).waitFor()
    await page.getByText(outcome).first().waitFor()
    await page.getByRole('link', { name: 'All jobs' }).click()
  }
  const jobs = await fetch(`${system.baseUrl}/admin/jobs`, { headers: admin })
  t.match(JSON.parse(await jobs.text()).data, [
    { kind: 'rebuild', subject: 'payments', status: 'succeeded' },
    { kind: 'verify', subject: 'payments', status: 'succeeded', result: { outcome: 'equal' } },
  ])
})

test('a product is created, edited and synced, first as a dry run', async (t, { open, system }) => {
  const name = `Ticket ${randomUUID().slice(0, 8)}`
  const page = await open('/products')
  await page.getByRole('button', { name: 'New product' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill(name)
  await dialog.getByLabel('Currency').fill('EUR')
  await dialog.getByLabel('Price before tax').fill('12.50')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByRole('link', { name }).click()
  await page.getByRole('button', { name: 'Edit' }).click()
  await dialog.getByLabel('Description').fill('For two')
  await dialog.getByRole('button', { name: 'Save' }).click()
  await dialog.getByText(`${name} is saved.`).waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByText('For two').waitFor()
  await page.getByRole('link', { name: 'All products' }).click()
  await page.getByRole('checkbox', { name: `Select ${name}` }).check()
  await page.getByRole('button', { name: 'Sync 1 selected' }).click()
  const report = dialog.getByRole('region', { name: 'Report' })
  await report.waitFor()
  t.match(await textOf(report), new RegExp(`dry run: nothing was changed.*1 to create.*${name}`))
  await dialog.getByRole('button', { name: 'Sync 1 product now' }).click()
  await dialog.getByRole('heading', { name: 'Report' }).waitFor()
  const products = await fetch(`${system.baseUrl}/admin/products?search=${name.slice(7)}`, { headers: admin })
  t.match(JSON.parse(await products.text()).data, [{ name, description: 'For two', subtotal_cents: 1_250 }])
})
