// The two walks that the console exists for, as an operator and an auditor take them, and the pages on a phone.
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { consoleTests, textOf } from './consoleHarness.ts'
import { openPayment, settlePayment } from './payments.ts'
import { lookAtPages } from './shownPages.ts'

const test = await consoleTests(t, { payments: 1000 })

test('an operator finds out whether a guest paid and was reported, and gives the money back', async (t, harness) => {
  const { system, endpoint, open } = harness
  const id = await openPayment(system, { email: 'buyer@example.com', total_cents: 4_200 })
  await settlePayment(system, id)
  await waitFor(() => endpoint.received.some(({ body }) => body.includes('payment.succeeded')), { what: 'the webhook' })
  const startedAt = performance.now()
  const page = await open('/')

  await page.getByRole('link', { name: 'Payments', exact: true }).click()
  await page.getByLabel('Search').fill('buyer@example.com')
  await page.getByLabel('Search').press('Enter')
  await page.getByText('1 payment', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Tickets' }).click()
  await page.getByRole('heading', { name: 'Tickets' }).waitFor()

  // Did they pay?
  await page.getByText('succeeded', { exact: true }).first().waitFor()
  t.match(await textOf(page.getByRole('main')), /Received\s*EUR 42\.00/)

  // Were we told?
  await page.getByRole('button', { name: 'payment.succeeded to 1' }).click()
  const attempts = page.getByRole('table', { name: 'Attempts' })
  t.match(await textOf(attempts), /200.*ok/s)

  // Give it back.
  await page.getByRole('button', { name: 'Refund', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Refund this payment' })
  t.match(await textOf(dialog), /EUR 42\.00.*buyer@example\.com/s)
  await dialog.getByRole('button', { name: 'Refund EUR 42.00' }).click()
  await dialog.getByText('EUR 42.00 was refunded.').waitFor()
  t.ok(performance.now() - startedAt < 60_000, 'in less than a minute')

  const refund = await waitFor(
    async () => {
      const response = await fetch(`${system.baseUrl}/payments/${id}/refunds`, {
        headers: { 'x-session-id': 'demo-admin-session' },
      })
      return JSON.parse(await response.text()).data[0]
    },
    { what: 'the refund' },
  )
  t.match(refund, { amount_cents: 4_200, status: 'succeeded', reason: 'requested_by_customer' })
  await waitFor(() => endpoint.received.some(({ body }) => body.includes('payment.refunded')), { what: 'its webhook' })
})

test('an auditor sees who did what to a payment, and what it looked like before', async (t, { system, open }) => {
  const id = await openPayment(system, { email: 'buyer@example.com', total_cents: 4_200 })
  const before = new Date()
  await settlePayment(system, id)
  const startedAt = performance.now()
  const page = await open(`/payments/${id}`, { timezoneId: 'UTC' })

  const timeline = page.getByRole('list', { name: 'Events, the oldest first' })
  await timeline.getByText('by provider sandbox').waitFor()
  t.notMatch(await textOf(timeline), /because of/, 'the recorded events are not read before one asks for them')
  await page.getByLabel('Reason for the audit trail').fill('Audit 2026')
  await page.getByRole('button', { name: 'Read the raw events' }).click()
  await timeline.getByText('by provider sandbox, because of').waitFor()
  t.match(await textOf(timeline), /Payment started.*by anonymous.*Succeeded.*by provider sandbox, because of/s)

  await page.getByLabel('Exact time').fill(before.toISOString().slice(0, 23))
  await page.getByLabel('Exact time').press('Enter')
  await page.getByText('As of 20').waitFor()
  await page.getByRole('main').getByText('pending', { exact: true }).first().waitFor()
  t.notMatch(await textOf(timeline), /Succeeded/)
  t.match(page.url(), /as_of=/, 'the moment has an address')

  await page.getByRole('button', { name: 'Show now' }).click()
  await timeline.getByRole('button', { name: 'Succeeded', exact: true }).waitFor()
  await page.getByRole('button', { name: /PaymentSucceeded/ }).click()
  t.match(await textOf(page.getByRole('main')), /"\$causationId"/)
  const trail = await fetch(`${system.baseUrl}/admin/audit-trail?target=${id}`, {
    headers: { 'x-session-id': 'demo-admin-session' },
  })
  t.match(JSON.parse(await trail.text()).data, { length: 1, 0: { action: 'show_payment', reason: 'Audit 2026' } })
  t.ok(performance.now() - startedAt < 60_000, 'in less than a minute')
})

test('each page fits a phone', (t, harness) => lookAtPages(t, harness, 'narrow'))
