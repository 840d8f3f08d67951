import { randomUUID } from 'node:crypto'
import { readPaymentEvents } from '@paylog/commands/payments/readPayment'
import type { PaymentEvent } from '@paylog/domain/payments/events'
import { paymentFold } from '@paylog/domain/payments/fold'
import { PaymentResource } from '@paylog/domain/payments/resource'
import { at, eventsAfter, fold, notifies } from '@paylog/domain/payments/testing/paymentFixture'
import { paymentStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { opsHarness } from '../testing/opsHarness.ts'
import { runOps } from '../testing/runOps.ts'

const { store, run } = await opsHarness(t)

const show = (...args: string[]) => run(['payments', 'show', ...args])

/** Records these events in a new payment stream. */
async function record(template: readonly PaymentEvent[]) {
  const id: string = randomUUID()
  const events = template.map((event) => ({ ...event, data: { ...event.data, payment_id: id } }) as PaymentEvent)
  await store.handle({
    stream: paymentStream(id),
    fold: paymentFold,
    decide: () => events,
    metadata: { correlationId: 'c-1', causationId: 'k-1', actor: 'provider:sandbox' },
  })
  return { id, events }
}

/** Appends an event that no version of this program has written. */
async function appendUnknown(
  id: string,
  type: string,
  data: Readonly<Record<string, string>> = {},
  count = 1,
): Promise<void> {
  const metadata = { $correlationId: 'c', $causationId: 'k', actor: 'worker', schema: 1 }
  const unknownEvent = () => ({ id: randomUUID(), contentType: 'application/json', type, data, metadata }) as const
  const events = Array.from({ length: count }, unknownEvent)
  const append = () => store.client.appendToStream(paymentStream(id), events)
  // The client shares its pending appends with the command before this, which cancels them when it closes its own.
  await append().catch(append)
}

/** Events that change nothing. */
function notices(count: number): PaymentEvent[] {
  const settled = fold(eventsAfter('succeeded'))
  const [late] = notifies('failed', 100)(settled)
  if (late?.type !== 'ProviderEventIgnored') throw new Error('a late failure changes nothing')
  return Array.from({ length: count }, (_, n) => ({
    ...late,
    data: { ...late.data, provider_event_id: `evt_late_${n}` },
  }))
}
const timesIn = (stdout: string) => [...stdout.matchAll(/^ {2}(\d{4}-\S+Z) {2}\w+/gm)].map(([, time]) => time)

t.test('payments show prints the history as a table and every field', async (t) => {
  const { id } = await record(eventsAfter('processing', 'succeeded'))
  const [initiated] = await readPaymentEvents(store, id)
  const { code, stdout, stderr } = await show(id)
  t.same([code, stderr], [0, ''])
  const [title, , ...rest] = stdout.split('\n')
  t.equal(title, `Payment ${id}, now`)
  t.same(rest.slice(0, 11), [
    '  Occurred                  Event                     Status after  Actor',
    '  ------------------------  ------------------------  ------------  ----------------',
    '  2026-01-01T00:00:00.000Z  PaymentInitiated          pending       provider:sandbox',
    '    caused by request c-1',
    '  2026-01-01T00:00:01.000Z  ProviderIntentCreated     pending       provider:sandbox',
    `    caused by PaymentInitiated ${initiated?.id}`,
    '  2026-01-01T00:00:11.000Z  PaymentProcessingStarted  processing    provider:sandbox',
    `    caused by PaymentInitiated ${initiated?.id}`,
    '  2026-01-01T00:00:21.000Z  PaymentSucceeded          succeeded     provider:sandbox',
    `    caused by PaymentInitiated ${initiated?.id}`,
    '',
  ])
  const fields = rest.slice(11).filter((line) => line !== '')
  t.same(fields.slice(0, 2), [`  id                       ${id}`, '  subtotal_cents           2599'])
  t.equal(fields.length, Object.keys(PaymentResource.properties).length + 1, 'every field, and attention')
  t.match(stdout, /^ {2}status {19}succeeded$/m)
  t.match(stdout, /^ {2}description {14}-$/m)
  t.match(stdout, /^ {2}completed_at {13}2026-01-01T00:00:21.000Z$/m)
})

t.test('--at takes a time with an offset or an age', async (t) => {
  const { id } = await record(eventsAfter('processing', 'succeeded'))
  const { stdout } = await show(id, '--at', '2026-01-01T01:00:15+01:00')
  t.match(stdout, `Payment ${id}, as of 2026-01-01T00:00:15.000Z\n`)
  t.match(stdout, /^ {2}status {19}processing$/m)
  t.same(timesIn(stdout), [at(0), at(1), at(11)])
  t.match((await show(id, '--at', '1m')).stdout, /^ {2}status {19}succeeded$/m)
  t.same(await show(id, '--at', '2025-12-31T23:59:59.999Z'), {
    code: 1,
    stdout: '',
    stderr: `There was no payment ${id} at that time: it was created at ${at(0)}.\n`,
  })
})

t.test('payments show names a missing payment and invalid arguments', async (t) => {
  const id = randomUUID()
  for (const more of [[], ['--json'], ['--at', '1h']])
    t.same(await show(id, ...more), { code: 1, stdout: '', stderr: `There is no payment ${id}.\n` })
  const wrong: [args: string[], expected: string][] = [
    [[], 'ID is missing'],
    [['no-id'], 'ID must be the id of a payment, a UUID'],
    [[paymentStream(id)], 'ID must be the id of a payment, a UUID'],
    [[id, '--at', 'yesterday'], '--at must be a time with an offset'],
    [[id, '--at', '9999-01-01T00:00:00Z'], '--at is in the future'],
  ]
  for (const [args, expected] of wrong) {
    const { code, stdout, stderr } = await show(...args)
    t.same([code, stdout], [2, ''])
    t.ok(stderr.startsWith(expected) && stderr.includes('\nUsage: '), `${args.join(' ')}: ${stderr}`)
  }
  const known = await record(eventsAfter('succeeded'))
  t.match(await show(known.id.toUpperCase()), { code: 0 }, 'ids are case-insensitive')
})

t.test('payments show reports an unreadable event after those before it', async (t) => {
  for (const count of [0, 1, 496, 497, 777]) {
    const { id } = await record([...eventsAfter('succeeded'), ...notices(count)])
    await appendUnknown(id, 'PaymentVanished', { occurred_at: at(200) }, 600)
    const { code, stdout, stderr } = await show(id)
    t.equal(code, 1)
    t.equal(timesIn(stdout).length, 3 + count)
    t.notMatch(stdout, /^ {2}status/m, 'no state is shown')
    const where = `PaymentVanished, payment-${id}@${3 + count}, position \\d+`
    t.match(stderr, new RegExp(`^CANNOT BE READ: event \\S+ \\(${where}\\) has an unknown type\\.[^\\n]*\\n$`))
  }
})

t.test('payments show --json reports an unreadable event, also as the first of a payment', async (t) => {
  const { id } = await record(eventsAfter('succeeded'))
  await appendUnknown(id, 'PaymentSucceeded', { occurred_at: 'soon' })
  const { stdout, stderr } = await show(id, '--json')
  const { payment, history } = JSON.parse(stdout)
  t.same([payment, history.length], [null, 3])
  t.match(stderr, /^CANNOT BE READ: .* does not fit its schema/)
  const foreign = await record(eventsAfter('succeeded'))
  await appendUnknown(foreign.id, 'AddressRemoved', { address_id: id, occurred_at: at(200) })
  t.match(await show(foreign.id), { code: 1, stderr: /^CANNOT BE READ: .* is not a payment event/ })
  const unborn = randomUUID()
  await appendUnknown(unborn, 'PaymentDreamtOf')
  t.match(await show(unborn, '--json'), {
    stdout: '{"payment":null,"history":[],"deliveries":[]}\n',
    stderr: /PaymentDreamtOf/,
  })
  t.match(await show(unborn, '--at', '1h'), { code: 1, stderr: /^CANNOT BE READ/ })
})

t.test('payments show --at ignores an unreadable event after that time', async (t) => {
  const { id } = await record(eventsAfter('processing', 'succeeded'))
  await appendUnknown(id, 'PaymentVanished', { occurred_at: at(200) })
  t.match(await show(id, '--at', at(20), '--json'), { code: 0, stdout: /"status":"processing"/ })
  t.match(await show(id, '--at', at(21), '--json'), { code: 1, stdout: /^\{"payment":null/ })
})

t.test('payments show replaces control characters that a client wrote', async (t) => {
  const [first, ...rest] = eventsAfter('succeeded')
  if (first?.type !== 'PaymentInitiated') throw new Error('a beginning')
  const description = 'red \u001b[31m back \u009b0m line\nend \u202e\u2028é'
  const data = { ...first.data, description, metadata: { '\u001b': '\u202e' } }
  const { id } = await record([{ ...first, data }, ...rest])
  const { stdout } = await show(id)
  t.match(stdout, /^ {2}description {14}red \?\[31m back \?0m line\?end \?\?é$/m)
  t.match(stdout, /^ {2}metadata {17}\{"\\u001b":"\?"\}$/m)
  t.equal(JSON.parse((await show(id, '--json')).stdout).payment.description, description)
})

t.test('payments show without an event store exits with 1', async (t) => {
  const id = randomUUID()
  const nowhere = await runOps(['payments', 'show', id], { EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' })
  t.same(nowhere, {
    code: 1,
    stdout: '',
    stderr: 'The event store cannot be read at the moment (event_store_unavailable)\n',
  })
})

t.test('payment show, the earlier name, is payments show', async (t) => {
  const { id } = await record(eventsAfter('succeeded'))
  t.same(await run(['payment', 'show', id]), await show(id))
})
