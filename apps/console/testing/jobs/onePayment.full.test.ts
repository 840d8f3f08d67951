// What support, an auditor and a data protection officer each do with one payment, from the overview on.
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { newSigningKey } from '@paylog/audit-log/note'
import { demoRights } from '@paylog/identity/sandboxIdentity'
import type { TestSystem } from '@paylog/testing/system'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { accessibilityProblems, consoleTests, textOf } from '../consoleHarness.ts'
import { openPayment, readPayment, readTrail, settlePayment } from '../payments.ts'
import { countClicks } from './clicks.ts'

const { signingKey, verifierKey } = newSigningKey('payments.example.com')
const test = await consoleTests(t, {
  env: {
    RIGHTS: demoRights,
    WEBHOOK_1_NAME: 'Shop',
    AUDIT_SIGNING_KEY: signingKey,
    AUDIT_CHECKPOINT_INTERVAL: '1s',
  },
})

async function paidBy(system: TestSystem, email: string): Promise<string> {
  const guest_data = { email, name: 'María Ortega', phone: '+34600000000' }
  const id = await openPayment(system, { email, guest_data, total_cents: 4_200 })
  await settlePayment(system, id)
  return id
}

async function refund({ baseUrl }: TestSystem, id: string, amount_cents: number): Promise<void> {
  await fetch(`${baseUrl}/payments/${id}/refunds`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-session-id': 'demo-support-session',
      'x-reason': 'Ticket%204711',
    },
    body: JSON.stringify({ amount_cents }),
  })
}

test('did the guest’s payment arrive, and does the shop know it: 2 clicks', async (t, { system, endpoint, open }) => {
  await paidBy(system, 'maria@example.com')
  await waitFor(() => endpoint.received.some(({ body }) => body.includes('payment.succeeded')), { what: 'the webhook' })
  const page = await open('/', { session: 'demo-support-session' })
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const clicks = await countClicks(page)
  await page.getByRole('button', { name: /^Go to/ }).click()
  await page.keyboard.type('maria@example.com')
  await page.getByRole('option', { name: /EUR 42\.00/ }).click()
  const summary = page.getByRole('region', { name: 'Summary' })
  await summary.waitFor()
  t.match(await textOf(summary), /EUR 42\.00.*succeeded.*María Ortega maria@example\.com.*Received\s*EUR 42\.00/s)
  const delivered = page.getByRole('listitem').filter({ hasText: 'payment.succeeded to Shop' }).last()
  await delivered.getByText('succeeded', { exact: true }).waitFor()
  t.match(await textOf(delivered), /1 attempt, HTTP 200.*127\.0\.0\.1/s)
  t.equal(clicks(), 2)
  t.equal(await page.getByRole('button', { name: 'Redeliver' }).count(), 0, 'support may not send webhooks')
  t.equal(await page.getByRole('button', { name: 'Prove this payment' }).count(), 0)
  t.same(await accessibilityProblems(page), [])
})

test('who did what to a payment, and a proof of it that a program checks: 4 clicks', async (t, { system, open }) => {
  const id = await paidBy(system, 'ann@example.com')
  await refund(system, id, 1_000)
  await refund(system, id, 9_999)
  const page = await open('/', { session: 'demo-auditor-session' })
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const clicks = await countClicks(page)
  await page.getByRole('link', { name: 'Audit', exact: true }).click()
  const rows = page.getByRole('table', { name: 'actions' }).getByRole('row')
  const done = rows.filter({ hasText: 'Refund of EUR 10.00' })
  await done.getByText('done', { exact: true }).waitFor()
  t.match(await textOf(done), /“Ticket 4711”.*support@example\.com.*payment/s)
  t.match(await textOf(rows.filter({ hasText: 'Refund of EUR 99.99' })), /support@example\.com.*refused/s)
  t.same(await accessibilityProblems(page), [])
  await done.getByRole('link', { name: 'Refund of EUR 10.00' }).click()
  await page.getByText('by support@example.com').first().waitFor()
  await page.getByRole('link', { name: /^Audit of this payment/ }).waitFor()

  await page.getByRole('button', { name: 'Prove this payment' }).click()
  const dialog = page.getByRole('dialog', { name: 'Prove this payment' })
  await dialog.getByLabel('Verifier key of the log').fill(verifierKey)
  const downloaded = page.waitForEvent('download', { timeout: 100_000 })
  await dialog.getByRole('button', { name: 'Make the proof' }).click()
  const download = await downloaded
  await dialog.getByText(/^Proven: the log has these \d+ events, unchanged$/).waitFor()
  t.match(
    await textOf(dialog),
    /payments\.example\.com signed its first.*all events that this page shows.*does not prove.*true/s,
  )
  t.equal(clicks(), 4)
  t.same(await accessibilityProblems(page), [])

  const path = `${t.testdir()}/${download.suggestedFilename()}`
  await download.saveAs(path)
  const ops = fileURLToPath(new URL('../../../ops/src/main.ts', import.meta.url))
  const env = { ...process.env, NODE_OPTIONS: '' }
  const check = [ops, 'audit', 'check-proof', path, '--key', verifierKey]
  const { stdout } = await promisify(execFile)(process.execPath, check, { env })
  t.match(stdout, new RegExp(`^Proven by payments\\.example\\.com.*payment ${id}.*RefundRecorded`, 's'))
  t.match(JSON.parse(await readFile(path, 'utf8')), { payment: id, format: 1 })

  const other = newSigningKey('payments.example.com').verifierKey
  await dialog.getByLabel('Verifier key of the log').fill(other)
  await dialog.getByRole('alert').getByText('The proof does not hold').waitFor()
  await dialog.getByLabel('Verifier key of the log').fill('none')
  await dialog.getByText('This key cannot be used').waitFor()
  const trail = await readTrail(system, id)
  t.match(trail[0], { action: 'show_payment', actor_email: 'auditor@example.com', outcome: 'done' })
})

test('erase a person, after a check and with the address typed: 5 clicks', async (t, { system, open }) => {
  const email = 'li@example.com'
  const id = await paidBy(system, email)
  const page = await open('/', { session: 'demo-privacy-session' })
  await page.getByRole('heading', { name: 'Overview' }).waitFor()
  const clicks = await countClicks(page)
  await page.getByRole('link', { name: 'Privacy', exact: true }).click()
  await page.getByLabel('E-mail address').fill(email)
  // The check is over before anybody can see it.
  await page.route('**/admin/jobs/*', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    await route.fulfill({ response, json: { ...body, data: { ...body.data, status: 'running', result: null } } })
  })
  await page.getByRole('button', { name: 'Check what would go' }).click()
  await page.getByRole('button', { name: 'Cancel the check' }).waitFor()
  await page.unroute('**/admin/jobs/*')
  await page.getByText('What would be erased').waitFor()
  t.match(await textOf(page.getByRole('main')), /Payments\s*1/)
  t.match(await readPayment(system, id), { guest_email: email }, 'the check changes nothing')

  await page.getByRole('button', { name: 'Erase this person…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Erase this person for good' })
  const confirm = dialog.getByRole('button', { name: 'Erase for good' })
  const typed = dialog.getByLabel(`To confirm, type ${email}`)
  await typed.fill('li@example.org')
  await typed.press('Enter')
  await dialog.getByText('This is not the same').waitFor()
  await typed.fill(email)
  await dialog.getByLabel('Reason for the audit trail').fill('Request 12')
  await confirm.click()
  await dialog.getByText('The erasure has started.').waitFor()
  await dialog.getByRole('button', { name: 'Close' }).last().click()
  await page.getByText('The person is erased', { exact: true }).waitFor({ timeout: 90_000 })
  t.equal(clicks(), 5)
  const erased = page.getByRole('table', { name: 'erasures' }).getByRole('row').filter({ hasText: 'A person' })
  await erased.getByText('privacy@example.com').waitFor()
  t.match(await textOf(erased), /Request 12/)
  t.same(await accessibilityProblems(page), [])
  t.match(await readPayment(system, id), { guest_email: null, amount_cents: 4_200 })

  await page.goto(`${system.baseUrl}/console/payments/${id}`)
  await page.getByText('from a payer who was erased').waitFor()
  await page.goto(`${system.baseUrl}/console/customers/${email}`)
  await page.getByText('No payments', { exact: true }).waitFor()
})

test('a customer is found by e-mail address, with sums by currency, and the list has the same rows', async (t, harness) => {
  const { system, open } = harness
  const email = 'kim@example.com'
  const id = await paidBy(system, email)
  await refund(system, id, 1_000)
  const yen = await openPayment(system, { email, currency: 'JPY', total_cents: 1_800 })
  await settlePayment(system, yen)
  const page = await open('/customers', { session: 'demo-support-session' })
  const search = page.getByRole('searchbox', { name: 'Search' })
  await search.fill(email)
  await search.press('Enter')
  await page.getByRole('heading', { level: 1, name: /María Ortega|Guest Example/ }).waitFor()
  const sums = page.getByRole('table', { name: 'Sums by currency' })
  await sums.getByText('EUR 42.00').waitFor()
  t.match(await textOf(sums), /EUR1EUR 42\.00.*EUR 10\.00.*JPY1JPY 1,800/s)
  await page.getByRole('table', { name: 'refunds' }).getByText('EUR 10.00').waitFor()
  t.same(await accessibilityProblems(page), [])
  await page.getByRole('link', { name: 'All 2 payments' }).click()
  await page.getByText('2 payments', { exact: true }).waitFor()
  t.match(await textOf(page.getByRole('search', { name: 'Filters of payments' })), /Guest e-mail: kim@example\.com/)
})
