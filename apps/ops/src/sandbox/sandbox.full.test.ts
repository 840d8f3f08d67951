// The `sandbox` commands against a running system, whose processes share the memory of the sandbox.
import { randomUUID } from 'node:crypto'
import { capturePayment } from '@paylog/commands/payments/intentCalls'
import { refundPayment } from '@paylog/commands/payments/refundPayment'
import { disputeStatusOf } from '@paylog/domain/payments/charges'
import type { InitiatePayment } from '@paylog/domain/payments/initiate'
import { connectEventStore } from '@paylog/event-store/testing/eventStoreHarness'
import { createPostgresMemory } from '@paylog/providers/sandbox/postgresMemory'
import { createSandbox } from '@paylog/providers/sandbox/sandbox'
import { startSystem } from '@paylog/testing/system'
import { createTestDatabase } from '@paylog/testing/testDatabase'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { paymentsOn } from '../testing/paymentsHarness.ts'
import { runOps } from '../testing/runOps.ts'

const { databaseUrl } = await createTestDatabase(t)
const system = await startSystem(t, { SANDBOX_DATABASE_URL: databaseUrl })
const log = { connectionString: system.eventStoreUrl, keys: system.keys }
const store = connectEventStore(t, log)
const payments = paymentsOn(store)
const { payment, statusOf } = payments
const memory = createPostgresMemory({ databaseUrl, timeoutMs: 5_000 })
const sandbox = createSandbox({ webhookSecrets: [system.sandboxSecret], memory })
t.teardown(() => sandbox.close())

const workflow = { store, providers: new Map([['sandbox', sandbox]]), now: () => new Date() }
const metadata = { correlationId: 'request-1', causationId: 'request-1', actor: 'operator' }
const env = {
  EVENTSTORE_URL: system.eventStoreUrl,
  DATABASE_URL: system.databaseUrl,
  PORT: new URL(system.baseUrl).port,
  SANDBOX_PROVIDER: 'true',
  SANDBOX_WEBHOOK_SECRET: system.sandboxSecret,
  SANDBOX_DATABASE_URL: databaseUrl,
}
const open = (wanted?: Partial<InitiatePayment>) => payments.open(sandbox, wanted)
const ops = (...args: readonly string[]) => runOps(['sandbox', ...args], env)

const refund = (payment_id: string, amount_cents: number) => {
  const command = {
    refund_id: randomUUID(),
    amount_cents,
    reason: 'other',
    note: null,
    request_fingerprint: null,
    refund_limit_cents: null,
  } as const
  return refundPayment(workflow, { payment_id, metadata, ...command })
}

t.test('sandbox approve: a payment that requires an action succeeds, one without an action is an error', async (t) => {
  const id = await open({ payment_method_id: 'pm_card_actionRequired' })
  t.match(await ops('approve', id), { code: 0, stdout: `Payment ${id} is succeeded.\n` })
  t.match(await ops('approve', id), { code: 1, stderr: `Payment ${id} is succeeded already.\n` })
  const other = await open({ payment_method_id: 'pm_card_visa' })
  t.match(await ops('approve', other), { code: 1, stderr: /^Only payments with pm_card_actionRequired/ })
})

t.test('sandbox approve: the worker captures an approved payment', async (t) => {
  const id = await open({ payment_method_id: 'pm_card_approval' })
  t.match(await ops('approve', id, '--json'), { code: 0, stdout: /"status":"processing"/ })
  await waitFor(async () => (await statusOf(id)) === 'succeeded', { what: 'the capture' })
})

t.test('sandbox settle: an authorized payment is captured in part', async (t) => {
  const id = await open({ capture_method: 'manual' })
  t.match(await ops('settle', id, 'authorized'), { code: 0, stdout: `Payment ${id} is processing.\n` })
  t.match(await payment(id), { capturable_cents: 2200 })
  await capturePayment(workflow, { payment_id: id, metadata, amount_cents: 2000 })
  t.match(await payment(id), { status: 'succeeded', capturable_cents: 0, charges: [{ received_cents: 2000 }] })
  const automatic = await ops('settle', await open(), 'authorized')
  t.match(automatic, { code: 1, stderr: /is captured automatically/ })
})

t.test('sandbox settle: reports within a second are applied in order', async (t) => {
  const id = await open()
  for (const status of ['failed', 'processing', 'failed', 'succeeded'])
    t.match(await ops('settle', id, status), { code: 0, stdout: `Payment ${id} is ${status}.\n` })
})

t.test('sandbox refund: a pending refund with pm_card_refundFails fails, and a succeeded one may fail', async (t) => {
  const id = await open({ payment_method_id: 'pm_card_refundFails' })
  await ops('settle', id, 'succeeded')
  t.match(await ops('refund', id, 'failed'), { code: 1, stderr: /has no refund that could have failed/ })
  t.match((await refund(id, 2200)).refund, { status: 'pending' })
  t.match(await ops('refund', id, 'failed'), { code: 0, stdout: `The refund of payment ${id} failed.\n` })
  t.match((await payment(id)).refunds, [{ status: 'failed', failure_code: 'account_closed' }])
  const other = await open()
  await ops('settle', other, 'succeeded')
  t.match((await refund(other, 700)).refund, { status: 'succeeded' })
  t.match(await ops('refund', other, 'succeeded'), { code: 1, stderr: /has no refund/ })
  t.match(await ops('refund', other, 'failed'), { code: 0 })
  t.match((await payment(other)).refunds, [{ status: 'failed', amount_cents: 700 }])
})

t.test('sandbox dispute: pm_card_dispute opens a dispute when it is paid, and the command closes it', async (t) => {
  const id = await open({ payment_method_id: 'pm_card_dispute' })
  t.match(await ops('dispute', id, 'open'), { code: 1, stderr: /has received no money/ })
  t.match(await ops('settle', id, 'succeeded'), { code: 0 })
  t.equal(disputeStatusOf(await payment(id)), 'open')
  t.match((await payment(id)).disputes, [{ amount_cents: 2200, provider_status: 'needs_response' }])
  t.match(await ops('dispute', id, 'lost'), { code: 0, stdout: `The dispute of payment ${id} is lost.\n` })
  t.match(await payment(id), { status: 'succeeded', disputes: [{ status: 'lost' }] })
  const other = await open()
  await ops('settle', other, 'succeeded')
  t.match(await ops('dispute', other, 'open'), { code: 0 })
  t.equal(disputeStatusOf(await payment(other)), 'open')
})

t.test('payments reconcile: a payment whose notification was lost is found in the memory', async (t) => {
  const id = await open()
  t.match(await ops('settle', id, 'succeeded', '--silent'), {
    code: 0,
    stdout: `Nobody was notified. Payment ${id} is still pending.\n`,
  })
  t.equal(await statusOf(id), 'pending')
  const reconciled = await runOps(['payments', 'reconcile', '--json'], env)
  t.match(reconciled.stdout, `{"finding":"late","payment_id":"${id}"`)
  t.equal(await statusOf(id), 'succeeded')
})
