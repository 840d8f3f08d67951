import { randomUUID } from 'node:crypto'
import { ownerOf, userOwner } from '@paylog/domain/actor'
import { recordCallFailed } from '@paylog/domain/payments/calls'
import { type RecordEvidence, recordEvidence } from '@paylog/domain/payments/evidence'
import { recordIntentCreated } from '@paylog/domain/payments/initiate'
import { paymentResource } from '@paylog/domain/payments/resource'
import { testCycles } from '@paylog/testing/testEnvironment'
import fc from 'fast-check'
import t from 'tap'
import { readItem } from '../queries/lists.ts'
import {
  addPaymentTo,
  createLogFixture,
  guest,
  type LogFixture,
  type PaymentFacts,
  user,
} from '../testing/logFixture.ts'
import { callFailures } from '../testing/moneySteps.ts'
import { applyInBatches, readModelDatabase, reapply, resetCheckpoints } from '../testing/projectionHarness.ts'
import { payments } from './projection.ts'
import { singlePayment } from './queries.ts'

const time = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
const text = fc.option(fc.string({ unit: 'grapheme', maxLength: 20 }).filter((value) => !value.includes('\0')))

const facts: fc.Arbitrary<PaymentFacts> = fc
  .record({
    caller: fc.constantFrom(user('u1'), guest('Guest@Example.com'), {}),
    given: fc.record({
      occurred_at: time,
      intent: fc.boolean(),
      total_cents: fc.integer({ min: 1, max: 999_999_999_999 }),
      currency: fc.constantFrom('EUR', 'JPY', 'KWD'),
      description: text,
      concept: text,
      reference_code: text,
      category: text,
      tags: text,
      payment_method_id: fc.option(fc.uuid()),
      metadata: fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 2 })).map(asJson),
    }),
  })
  .map(({ caller, given }) => ({ ...given, ...caller }))

const evidence: fc.Arbitrary<RecordEvidence> = fc.record({
  occurred_at: time,
  provider_time: time,
  status: fc.constantFrom('pending', 'processing', 'succeeded', 'failed', 'canceled'),
  provider_event_id: fc.option(fc.constantFrom('evt_1', 'evt_2', 'evt_3', 'evt_4', 'evt_5')),
  provider_intent_id: fc.option(fc.constantFrom('pi_1', 'pi_2')),
  provider_payment_id: fc.option(fc.constantFrom('ch_1', 'ch_2')),
  amount_cents: fc.constant(null),
  currency: fc.option(fc.constantFrom('EUR', 'eur')),
})

/** The operations on an open payment, in any order. */
const step = fc.oneof(
  { weight: 5, arbitrary: evidence.map((command) => (state: State) => recordEvidence(command, state)) },
  fc
    .record({
      occurred_at: time,
      attempt: fc.integer({ min: 1, max: 3 }),
      provider_intent_id: fc.constantFrom('pi_1', 'pi_2'),
      client_secret: text,
    })
    .map((command) => (state: State) => recordIntentCreated(command, state)),
  fc.record({ occurred_at: time, attempt: fc.integer({ min: 1, max: 3 }), failure: callFailures }).map(
    ({ occurred_at, attempt, failure }) =>
      (state: State) =>
        recordCallFailed({ call: 'create', attempt }, { ...failure, occurred_at }, state),
  ),
)
type State = ReturnType<LogFixture['state']>

const history = fc.record({
  opened: fc.array(facts, { minLength: 1, maxLength: 4 }),
  steps: fc.array(fc.record({ payment: fc.nat(3), step }), { maxLength: 30, size: 'max' }),
  sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 12 }),
  repeated: fc.boolean(),
})

const report = {
  provider_time: '2026-03-01T11:00:00.000Z',
  provider_event_id: null,
  provider_intent_id: null,
  provider_payment_id: 'ch_1',
  amount_cents: null,
  currency: null,
}

/** The value after JSON, which has neither -0 nor undefined. */
function asJson<Value>(value: Value): Value {
  return JSON.parse(JSON.stringify(value))
}

t.test('a new intent resets a failed payment to pending, but not a succeeded one', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const occurred_at = '2026-03-01T10:00:00.000Z'
  const why = { error_code: 'provider_unavailable', failure_code: 'x', failure_message: 'x' } as const
  const rejected = { occurred_at, outcome: 'rejected', ...why } as const
  const created = { occurred_at, attempt: 2, provider_intent_id: 'pi_2', client_secret: 'cs_2' }
  const succeeded = { ...report, occurred_at, status: 'succeeded' as const }
  const ids = [addPaymentTo(log, { ...user('u1'), intent: false }), addPaymentTo(log, { ...user('u1'), intent: false })]
  for (const id of ids) log.decide(id, (state) => recordCallFailed({ call: 'create', attempt: 1 }, rejected, state))
  log.decide(ids[1] ?? '', (state) => recordEvidence(succeeded, state))
  for (const id of ids) log.decide(id, (state) => recordIntentCreated(created, state))
  await applyInBatches(pool, payments, log, [1])
  const statuses = ids.map(
    async (id) => (await readItem(pool, singlePayment, { id, owner: userOwner('u1') }))?.item.status,
  )
  t.same(await Promise.all(statuses), ['pending', 'succeeded'])
})

t.test('the completion time of a payment is set once, even if it is recorded again', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const id = addPaymentTo(log, user('u1'))
  const times = ['2026-03-02T00:00:00.000Z', '2026-03-03T00:00:00.000Z']
  for (const occurred_at of times)
    log.decide(id, (state) =>
      recordEvidence({ ...report, occurred_at, status: 'succeeded' }, { ...state, status: 'pending' } as State),
    )
  for (const sizes of [[1], [9]]) {
    await pool.query('truncate read_models.payments_v1')
    await resetCheckpoints(pool)
    await applyInBatches(pool, payments, log, sizes)
    const found = await readItem(pool, singlePayment, { id, owner: userOwner('u1') })
    t.equal(found?.item.completed_at, times[0])
  }
})

t.test('payments: the read model equals the fold of the log for all batch sizes', async (t) => {
  const { pool } = await readModelDatabase(t)
  await fc.assert(
    fc.asyncProperty(history, async ({ opened, steps, sizes, repeated }) => {
      const log = createLogFixture()
      const owners = new Map(opened.map((given) => [addPaymentTo(log, { ...given, payment_id: randomUUID() }), given]))
      const ids = [...owners.keys()]
      for (const { payment, step } of steps) {
        const id = ids[payment % ids.length] ?? ''
        log.decide(id, step)
      }
      await reapply(pool, payments, log, sizes)
      if (repeated) await reapply(pool, payments, log, sizes.toReversed())
      for (const [id, given] of owners) {
        const state = log.state(id)
        if (state.status === 'none') throw new Error('opened payments exist')
        const owner = ownerOfFacts(given)
        if (owner === undefined) continue
        const found = await readItem(pool, singlePayment, { id, owner })
        t.same(found?.item, paymentResource(state, null))
        const last = log.events.findLast((event) => event.id === id)
        t.equal(found?.revision, last?.revision)
      }
      return t.passing()
    }),
    { numRuns: testCycles(80), endOnFailure: true },
  )
})

function ownerOfFacts({ payer, guest_email }: PaymentFacts): string | undefined {
  if (payer?.id) {
    const { id: user_id, type: user_type, email: user_email } = payer
    return ownerOf({ kind: 'session', user_id, user_type, user_email, is_administrator: false })
  }
  if (!guest_email) return undefined
  return ownerOf({ kind: 'guest', guest_email: guest_email.toUpperCase(), token_hash: '' })
}
