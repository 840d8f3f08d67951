// `payments refresh`, `cancel`, `capture` and `refund` on a real log, with a fake Stripe over HTTP.
import { randomUUID } from 'node:crypto'
import { recordedActions } from '@paylog/commands/testing/recordedActions'
import t from 'tap'
import { reconcileHarness } from '../testing/reconcileHarness.ts'
import { runOps } from '../testing/runOps.ts'

const { payments, fakeStripe, stripe, env } = await reconcileHarness(t)

const ops = (...args: string[]) => runOps(['payments', ...args], env)

async function authorized(): Promise<string> {
  const id = await payments.open(stripe, { capture_method: 'manual' })
  fakeStripe.pay(await payments.intentOf(id), 'succeeded')
  return id
}

async function paid(): Promise<string> {
  const id = await payments.open(stripe)
  fakeStripe.pay(await payments.intentOf(id), 'succeeded')
  await ops('refresh', id)
  return id
}

t.test('payments refresh records what the provider says, as text and as JSON', async (t) => {
  const id = await payments.open(stripe)
  t.match(await ops('refresh', id), { code: 0, stdout: `Payment ${id} is pending: 22.00 EUR\n`, stderr: '' })
  fakeStripe.pay(await payments.intentOf(id), 'succeeded')
  const { code, stdout } = await ops('refresh', id, '--json')
  t.equal(code, 0)
  t.match(JSON.parse(stdout), { id, status: 'succeeded', amount_received_cents: 2200 })
  t.equal((await ops('refresh', id)).stdout, `Payment ${id} is succeeded: 22.00 EUR, 22.00 EUR received\n`)
})

t.test('payments cancel cancels a pending payment, and may be repeated', async (t) => {
  const id = await payments.open(stripe)
  for (const _ of ['once', 'again'])
    t.match(await ops('cancel', id, '--reason', 'out of stock'), {
      code: 0,
      stdout: `Payment ${id} is canceled: 22.00 EUR\n`,
    })
  t.equal(await payments.statusOf(id), 'canceled')
})

t.test('payments capture captures a part of an authorized payment, once', async (t) => {
  const id = await authorized()
  t.match(await ops('refresh', id), { stdout: `Payment ${id} is processing: 22.00 EUR, 22.00 EUR capturable\n` })
  t.match(await ops('capture', id, '--amount-cents', '3000'), {
    code: 1,
    stdout: '',
    stderr: 'The amount is larger than what is authorized (capture_exceeds_authorization, capturable_cents 2200)\n',
  })
  const captured = await ops('capture', id, '--amount-cents', '1000', '--json')
  t.equal(captured.code, 0)
  t.match(JSON.parse(captured.stdout), { id, status: 'succeeded', amount_received_cents: 1000 })
  t.match(await ops('capture', id), { code: 1, stderr: /\(payment_not_capturable, .*status succeeded\)/ })
})

t.test('payments refund with a key makes one refund, and refuses another amount for it', async (t) => {
  const id = await paid()
  const args = ['refund', id, '--amount-cents', '500', '--reason', 'duplicate', '--note', 'twice', '--key', 'k-1']
  const first = await ops(...args, '--json')
  t.equal(first.code, 0, first.stderr)
  const refund = JSON.parse(first.stdout)
  t.match(refund, { payment_id: id, amount_cents: 500, status: 'succeeded', reason: 'duplicate', note: 'twice' })
  t.same(JSON.parse((await ops(...args, '--json')).stdout), refund)
  t.match(await ops('refund', id, '--key', 'k-1'), { code: 1, stderr: /\(idempotency_key_reused\)\n$/ })
  t.match((await ops('refund', id)).stdout, new RegExp(`^Refund \\S+ of payment ${id} is succeeded: 17\\.00 EUR\n$`))
  t.match(await ops('refund', id), { code: 1, stderr: /\(refund_exceeds_payment, refundable_cents 0\)\n$/ })
})

t.test('a command that the payment does not allow exits with 1 and the error code', async (t) => {
  const id = await payments.open(stripe)
  t.match(await ops('refund', id), { code: 1, stdout: '', stderr: /\(payment_not_refundable, status pending\)\n$/ })
  t.match(await ops('capture', id), { code: 1, stderr: /\(payment_not_capturable, .*status pending\)\n$/ })
  const succeeded = await paid()
  t.match(await ops('cancel', succeeded), { code: 1, stderr: /\(payment_not_cancelable, .*status succeeded\)\n$/ })
  for (const command of ['refund', 'cancel', 'capture', 'refresh'])
    t.match(await ops(command, randomUUID()), { code: 1, stderr: 'No payment with this id (not_found)\n' }, command)
})

t.test('each change of a payment is in the audit trail, with its reason', async (t) => {
  const id = await payments.open(stripe)
  const before = (await recordedActions(payments.store)).length
  for (const [command, ...options] of [
    ['refresh', '--reason', 'Ticket 1'],
    ['capture', '--amount-cents', '5', '--reason', 'Ticket 2'],
    ['refund', '--reason', 'duplicate', '--note', 'for Ada', '--audit-reason', 'Ticket 3'],
    ['cancel', '--reason', 'Ada called', '--audit-reason', 'Ticket 4'],
  ] as const)
    await ops(command, id, ...options)
  const actions = (await recordedActions(payments.store)).slice(before).map(({ data }) => data)
  const target = { kind: 'payment', id }
  t.match(actions, [
    { action: 'refresh_payment', target, actor: /^operator/, reason: 'Ticket 1' },
    { action: 'capture_payment', target, actor: /^operator/, reason: 'Ticket 2', details: { amount_cents: 5 } },
    { action: 'refund_payment', target, actor: /^operator/, reason: 'Ticket 3', details: { reason: 'duplicate' } },
    { action: 'cancel_payment', target, actor: /^operator/, reason: 'Ticket 4' },
  ])
  t.notMatch(JSON.stringify(actions), 'Ada', 'notes are about the payer')
})

t.test('wrong arguments of the payments commands exit with 2', async (t) => {
  const id = randomUUID()
  for (const args of [
    ...['refund', 'cancel', 'capture', 'refresh'].flatMap((command) => [[command], [command, 'no-id']]),
    ...['0', '-1', '1.5', '1e3', 'x', '1000000000000'].flatMap((amount) => [
      ['refund', id, `--amount-cents=${amount}`],
      ['capture', id, `--amount-cents=${amount}`],
    ]),
    ['refund', id, '--reason', 'because'],
    ['refund', id, '--note', 'x'.repeat(501)],
    ['refund', id, '--key', ''],
    ['cancel', id, '--reason', 'x'.repeat(501)],
  ])
    t.match(await ops(...args), { code: 2, stdout: '', stderr: /Usage: / }, args.join(' ').slice(0, 80))
})
