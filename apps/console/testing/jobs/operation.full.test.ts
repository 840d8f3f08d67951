// What an operator does: an endpoint that was down, a new endpoint, a product, and the health of the system.
import { newSigningKey } from '@paylog/audit-log/note'
import { demoRights } from '@paylog/identity/sandboxIdentity'
import { startFakeEndpoint } from '@paylog/testing/fakeEndpoint'
import type { TestSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { accessibilityProblems, admin, consoleTests, textOf } from '../consoleHarness.ts'
import { openPayment } from '../payments.ts'
import { countClicks } from './clicks.ts'

let isDown = false
const session = 'demo-operator-session'
const test = await consoleTests(t, {
  env: {
    RIGHTS: demoRights,
    WEBHOOK_1_NAME: 'Shop',
    WEBHOOK_1_EVENTS: 'payment.*',
    WEBHOOK_1_RETRY_SCHEDULE: '100ms',
    AUDIT_SIGNING_KEY: newSigningKey('payments.example.com').signingKey,
    AUDIT_CHECKPOINT_INTERVAL: '1s',
  },
  respond(response) {
    response.statusCode = isDown ? 503 : 200
    response.end(isDown ? 'under repair' : 'ok')
  },
})

async function read({ baseUrl }: TestSystem, path: string) {
  const response = await fetch(`${baseUrl}${path}`, { headers: admin })
  return JSON.parse(await response.text()).data
}

test('an endpoint was down: found from the overview, why, and what failed sent again: 3 clicks', async (t, harness) => {
  const { system, endpoint, open } = harness
  isDown = true
  const ids = await Promise.all(
    ['a', 'b', 'c'].map((name) => openPayment(system, { email: `${name}@example.com`, total_cents: 4_200 })),
  )
  const failed = async () => (await read(system, '/admin/webhook-deliveries?status=failed')).length
  await waitFor(async () => (await failed()) === ids.length, { what: 'the failures' })
  const isNoticed = async () =>
    (await read(system, '/admin/attention')).some(({ count }: { count: number }) => count === ids.length)
  await waitFor(isNoticed, { what: 'the item of attention' })

  const page = await open('/', { session })
  const clicks = await countClicks(page)
  await page.getByRole('link', { name: /^3 deliveries to Shop \(127\.0\.0\.1:\d+\) failed/ }).click()
  await page.getByRole('heading', { name: 'Shop', level: 1 }).waitFor()
  await page.getByText('Deliveries fail: HTTP 503').waitFor()
  const main = page.getByRole('main')
  t.match(await textOf(main), /failing.*HTTP 503.*tried again after 0\.1 s/s)
  await page.getByRole('table', { name: 'deliveries' }).getByText('HTTP 503').first().waitFor()
  t.equal(
    await page.getByRole('table', { name: 'deliveries' }).getByRole('link', { name: 'payment.created' }).count(),
    3,
  )
  t.same(await accessibilityProblems(page), [])

  isDown = false
  const before = endpoint.received.length
  await page.getByRole('button', { name: 'Redeliver what failed (3)' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send 3 deliveries again' }).click()
  await page.getByRole('dialog').getByText('3 deliveries are sent again').waitFor()
  await waitFor(() => endpoint.received.length === before + 3, { what: 'the webhooks' })
  await page.getByRole('main').getByText('healthy', { exact: true }).waitFor({ timeout: 20_000 })
  t.equal(await failed(), 0)
  t.equal(clicks(), 3)
  const paid = ids.map((id) => endpoint.received.filter(({ body }) => body.includes(id)).length)
  t.same(paid, [3, 3, 3], 'two attempts that failed, and one that did not')
  t.match(await read(system, '/admin/audit-trail?action=redeliver_failed_webhooks'), [{ details: { deliveries: 3 } }])
})

test('a delivery that failed says so, with each attempt and its payment, and is sent again: 4 clicks', async (t, harness) => {
  const { system, endpoint, open } = harness
  isDown = true
  const id = await openPayment(system, { email: 'd@example.com', total_cents: 4_200 })
  const failed = () => read(system, '/admin/webhook-deliveries?status=failed')
  await waitFor(async () => (await failed()).length === 1, { what: 'the failure' })
  isDown = false
  const page = await open('/webhooks?status=failed', { session })
  const clicks = await countClicks(page)
  await page.getByRole('link', { name: 'payment.created' }).click()
  await page.getByRole('heading', { name: 'payment.created to Shop' }).waitFor()
  await page.getByText('Not delivered: 2 attempts failed, the last one with HTTP 503').waitFor()
  t.match(
    await textOf(page.getByRole('table', { name: 'Attempts' })),
    /HTTP 503.*under repair.*HTTP 503.*under repair/s,
  )
  t.match(await textOf(page.getByRole('region', { name: 'Exact body' })), id)
  t.same(await accessibilityProblems(page), [])
  await page.getByRole('button', { name: 'Redeliver' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Redeliver' }).click()
  await page.getByText('Delivered after 3 attempts').waitFor()
  t.match(endpoint.received.at(-1)?.body, id)
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click()
  t.equal(clicks(), 4)
  const link = page
    .getByRole('main')
    .getByRole('link', { name: /^payment …/ })
    .first()
  t.equal(await link.getAttribute('href'), `/console/payments/${id}`)
})

test('a new endpoint: its lines for the environment, and after the restart a test to it alone: 6 clicks', async (t, harness) => {
  const { system, endpoint, open } = harness
  const books = await startFakeEndpoint(t)
  const page = await open('/webhooks', { session })
  const clicks = await countClicks(page)
  await page.getByRole('link', { name: 'Add an endpoint' }).click()
  await page.getByLabel('Name').fill('Bookkeeping')
  await page.getByLabel('URL').fill(books.url)
  await page.getByLabel('Events').fill('customer.*')
  const lines = (await page.getByRole('region', { name: 'Lines for the environment' }).textContent()) ?? ''
  t.match(
    lines,
    `WEBHOOK_2_ENABLED=true\nWEBHOOK_2_NAME=Bookkeeping\nWEBHOOK_2_URL=${books.url}\nWEBHOOK_2_EVENTS=customer.*`,
  )
  t.same(await accessibilityProblems(page), [])
  await page.getByRole('button', { name: 'Copy Lines for the environment' }).click()

  const added = Object.fromEntries(
    lines
      .split('\n')
      .filter(Boolean)
      .map((line) => line.split(/=(.*)/)),
  )
  for (const service of [system.services.worker, system.services.api]) {
    await service.kill()
    await service.start(added)
  }
  await page.getByRole('link', { name: 'Webhooks', exact: true }).first().click()
  await page.getByRole('link', { name: 'Bookkeeping' }).click()
  await page.getByText('nothing sent yet').waitFor()
  const before = endpoint.received.length
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('dialog').getByText('succeeded', { exact: true }).waitFor()
  t.match(books.received, [{ headers: { 'webhook-test': 'true', 'webhook-signature': /^v1,/ } }])
  t.equal(endpoint.received.length, before, 'no other endpoint gets it')
  t.equal(clicks(), 6)
})

test('a product, and its sync to a provider with the report: 6 clicks', async (t, { system, open }) => {
  const page = await open('/', { session })
  const clicks = await countClicks(page)
  await page.getByRole('link', { name: 'Products', exact: true }).click()
  await page.getByRole('button', { name: 'New product' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('Annual membership')
  await dialog.getByLabel('Price before tax').fill('99')
  await dialog.getByLabel('Tax', { exact: true }).fill('18.81')
  await dialog.getByRole('button', { name: 'Create' }).click()
  await dialog.getByRole('link', { name: 'Open it' }).click()
  await page.getByRole('heading', { name: 'Annual membership', level: 1 }).waitFor()
  t.match(await textOf(page.getByRole('main')), /EUR 117\.81.*EUR 99\.00.*EUR 18\.81/s)
  t.same(await accessibilityProblems(page), [])
  await page.getByRole('button', { name: 'Sync to a provider' }).click()
  const report = dialog.getByRole('region', { name: 'Report' })
  await report.getByText('1 to create').waitFor()
  await dialog.getByRole('button', { name: 'Sync 1 product now' }).click()
  await report.getByText('1 created').waitFor()
  t.equal(clicks(), 6)
  t.match(await read(system, '/admin/products?search=annual'), [{ total_cents: 11_781, currency: 'EUR' }])
  t.match(await read(system, '/admin/audit-trail?action=sync_products'), [{ details: { products: 1 } }])
})

test('is everything healthy, and a read model is rebuilt: 3 clicks', async (t, { system, open }) => {
  const page = await open('/', { session })
  const clicks = await countClicks(page)
  await page.getByRole('link', { name: 'System', exact: true }).click()
  await page.getByText('Everything runs').waitFor()
  await page.getByRole('main').getByText('signed', { exact: true }).waitFor()
  t.match(await textOf(page.getByRole('table', { name: 'processes' })), /api.*ready.*projector.*ready.*worker.*ready/s)
  await page.getByRole('button', { name: 'Rebuild payments' }).click()
  const dialog = page.getByRole('dialog', { name: 'Rebuild payments' })
  await dialog.getByRole('button', { name: 'Rebuild' }).click()
  await dialog.getByText('Rebuilt: the new table equals the former one').waitFor()
  t.equal(clicks(), 3)
  await page.getByRole('table', { name: 'jobs' }).getByText('succeeded').waitFor()
  t.match(await read(system, '/admin/jobs'), [{ kind: 'rebuild', subject: 'payments', status: 'succeeded' }])

  await system.services.worker.kill()
  await page.reload()
  await page.getByText('worker: it does not respond').waitFor()
  t.same(await accessibilityProblems(page), [])
})
