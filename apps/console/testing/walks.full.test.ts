// A payment in the past, and the pages on a phone.
import t from 'tap'
import { consoleTests, textOf } from './consoleHarness.ts'
import { openPayment, settlePayment } from './payments.ts'
import { lookAtPages } from './shownPages.ts'

const test = await consoleTests(t, { payments: 1000 })

test('a payment is shown as it was before, and its recorded events when one asks for them', async (t, {
  system,
  open,
}) => {
  const id = await openPayment(system, { email: 'buyer@example.com', total_cents: 4_200 })
  const before = new Date()
  await settlePayment(system, id)
  const page = await open(`/payments/${id}`, { timezoneId: 'UTC' })

  const timeline = page.getByRole('list', { name: 'Events, the oldest first' })
  await timeline.getByText('by provider sandbox').waitFor()
  t.notMatch(await textOf(timeline), /because of/, 'the recorded events are not read before one asks for them')
  await page.getByLabel('Reason for the audit trail').fill('Audit 2026')
  await page.getByRole('button', { name: 'Read the raw events' }).click()
  await timeline.getByText('by provider sandbox, because of').waitFor()
  t.match(
    await textOf(timeline),
    /Payment started.*by somebody without a session.*Succeeded.*by provider sandbox, because of/s,
  )

  await page.getByRole('button', { name: 'As of a time' }).click()
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
})

test('each page fits a phone', (t, harness) => lookAtPages(t, harness, 'narrow'))
