import { randomUUID } from 'node:crypto'
import { guestOwner, recordedOwner, userOwner } from '@paylog/domain/actor'
import {
  changeAlias,
  paymentMethodFold,
  paymentMethodResource,
  refreshPaymentMethod,
  removePaymentMethod,
} from '@paylog/domain/payment-methods/paymentMethod'
import fc from 'fast-check'
import t from 'tap'
import { foldBatch } from '../apply/batch.ts'
import { defaults } from '../defaults/projection.ts'
import { readItem, readPage } from '../queries/lists.ts'
import { addMethodTo, createLogFixture, type LogFixture, ofGuest, ofUser, setDefaultIn } from '../testing/logFixture.ts'
import { readModelDatabase, reapply } from '../testing/projectionHarness.ts'
import { paymentMethods } from './projection.ts'
import { paymentMethodList } from './queries.ts'

const time = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
const text = fc.option(fc.string({ unit: 'grapheme', maxLength: 12 }).filter((value) => !value.includes('\0')))
const owner = fc.constantFrom(ofUser('u1'), ofUser('u2'), ofGuest('Guest@example.com'))

const details = fc.record({
  payment_type: fc.constantFrom(null, 'card', 'paypal'),
  wallet_type: fc.constantFrom(null, 'apple_pay'),
  card_brand: fc.constantFrom(null, 'visa', 'amex'),
  last_four: fc.constantFrom(null, '4242'),
  expiry_month: fc.constantFrom(null, '01', '12'),
  expiry_year: fc.constantFrom(null, '2030'),
})
const address = { line1: text, line2: text, city: text, state: text, postal_code: text, country: text }

const facts = fc
  .record({
    owner,
    details,
    given: fc.record({
      provider_id: fc.constantFrom('sandbox', 'stripe'),
      provider_customer_id: text,
      type: text,
      alias: text,
      organization_id: text,
      billing_address_id: fc.option(fc.uuid()),
      billing_details: fc.option(
        fc.record({ name: text, email: text, phone: text, address: fc.option(fc.record(address)) }),
      ),
    }),
  })
  .map(({ owner, details, given }) => ({ ...owner, ...details, ...given }))

/** An operation on one method. */
const step = fc.record({
  method: fc.nat(3),
  occurred_at: time,
  operation: fc.oneof(
    fc.record({ kind: fc.constant('alias' as const), alias: text }),
    fc.constant({ kind: 'remove' as const }),
    fc.record({ kind: fc.constant('refresh' as const), details }),
    fc.record({ kind: fc.constant('add' as const), details }),
  ),
})

const history = fc.record({
  added: fc.array(facts, { minLength: 1, maxLength: 4 }),
  steps: fc.array(step, { maxLength: 30, size: 'max' }),
  sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 12 }),
  repeated: fc.boolean(),
})
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

function applyStep(log: LogFixture, id: string, { operation, occurred_at }: Step): void {
  const before = log.stateOf(paymentMethodFold, id)
  if (before.status === 'none') throw new Error('added methods exist')
  if (operation.kind === 'add') {
    const { user_id, guest_email } = before
    addMethodTo(log, { user_id, guest_email, ...operation.details, occurred_at, payment_method_id: id })
    return
  }
  log.record(paymentMethodFold, id, (state) => {
    if (operation.kind === 'remove') return removePaymentMethod({ occurred_at, by: 'owner' }, state)
    if (operation.kind === 'refresh') return refreshPaymentMethod({ occurred_at, details: operation.details }, state)
    return state.status === 'saved' ? changeAlias({ occurred_at, alias: operation.alias }, state) : []
  })
}

t.test('payment methods: the read model equals the fold of the log, for all batch sizes', async (t) => {
  const { pool } = await readModelDatabase(t)
  await fc.assert(
    fc.asyncProperty(history, async ({ added, steps, sizes, repeated }) => {
      await pool.query('delete from read_models.payment_methods_v1')
      const log = createLogFixture()
      const ids = added.map((given) => addMethodTo(log, { ...given, payment_method_id: randomUUID() }))
      for (const each of steps) applyStep(log, ids[each.method % ids.length] ?? '', each)
      await reapply(pool, paymentMethods, log, sizes)
      if (repeated) await reapply(pool, paymentMethods, log, sizes.toReversed())
      const states = ids.map((id) => log.stateOf(paymentMethodFold, id)).filter((state) => state.status !== 'none')
      for (const state of states) {
        const { payment_method_id: id } = state
        const owner = recordedOwner(state) ?? ''
        const found = await readItem(pool, paymentMethodList, { id, owner })
        t.same(found?.item, state.status === 'saved' ? paymentMethodResource(state, false) : undefined)
        const { rows } = await pool.query('select * from read_models.payment_methods_v1 where id = $1', [id])
        const { revision, is_removed, user_id } = rows[0]
        t.equal(revision, log.events.findLast((event) => event.id === id)?.revision)
        t.same({ user_id, is_removed }, { user_id: state.user_id, is_removed: state.status === 'removed' })
      }
      return t.passing()
    }),
    { seed: 6, numRuns: 80, endOnFailure: true },
  )
})

const occurred_at = '2026-03-01T10:00:00.000Z'

function addedAndRemoved(log: LogFixture): string {
  const id = addMethodTo(log, { ...ofUser('u1'), alias: 'first' })
  log.record(paymentMethodFold, id, (state) => removePaymentMethod({ occurred_at, by: 'provider' }, state))
  return addMethodTo(log, { ...ofGuest('g@example.com'), payment_method_id: id, alias: 'second' })
}

t.test('a method removed and saved again in one batch is the new one', async (t) => {
  const log = createLogFixture()
  const id = addedAndRemoved(log)
  for (const events of [log.events, [...log.events, ...log.events]]) {
    const { inserts, patches } = foldBatch(paymentMethods, events)
    t.same(patches, [])
    t.equal(inserts.length, 1)
    t.match(inserts, [{ id, revision: 2n, values: { alias: 'second', is_removed: false } }])
  }
  const gone = foldBatch(paymentMethods, log.events.slice(0, 2))
  t.match(gone.inserts, [{ id, revision: 1n, values: { alias: 'first', is_removed: true } }])
  const back = foldBatch(paymentMethods, log.events.slice(1))
  t.same(back.patches, [], 'the new row replaces the removal')
  t.match(back.inserts, [{ id, revision: 2n, values: { alias: 'second' } }])
})

t.test('a method saved again belongs only to its new owner, for all batch sizes', async (t) => {
  const { pool } = await readModelDatabase(t)
  for (const sizes of [[1], [2, 1], [1, 2], [3]]) {
    const log = createLogFixture()
    const id = addedAndRemoved(log)
    for (const time of ['first', 'second']) {
      await reapply(pool, paymentMethods, log, sizes)
      t.equal(await readItem(pool, paymentMethodList, { id, owner: userOwner('u1') }), undefined)
      const found = await readItem(pool, paymentMethodList, { id, owner: guestOwner('g@example.com') })
      t.match(
        found,
        { item: { alias: 'second', is_default: false }, revision: 2n },
        `batches of ${sizes}, the ${time} time`,
      )
    }
  }
})

t.test('the chosen method is the default until it is removed', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const former = addMethodTo(log, ofUser('u1'))
  const chosen = addMethodTo(log, ofUser('u1'))
  const list_id = setDefaultIn(log, { chosen_id: former })
  setDefaultIn(log, { list_id, chosen_id: chosen })
  setDefaultIn(log, { chosen_id: addMethodTo(log, ofUser('u2')) })
  const defaultIds = async () => {
    await reapply(pool, paymentMethods, log)
    await reapply(pool, defaults, log)
    const { items } = await readPage(pool, paymentMethodList, { owner: userOwner('u1'), offset: 0, limit: 50 })
    return items.filter(({ is_default }) => is_default).map(({ id }) => id)
  }
  t.same(await defaultIds(), [chosen])
  const single = await readItem(pool, paymentMethodList, { id: chosen, owner: userOwner('u1') })
  t.match(single, { item: { is_default: true } })
  log.record(paymentMethodFold, chosen, (state) => removePaymentMethod({ occurred_at, by: 'owner' }, state))
  t.same(await defaultIds(), [], 'the earlier default does not return')
})
