import { randomUUID } from 'node:crypto'
import { recordedOwner, userOwner } from '@paylog/domain/actor'
import {
  type Address,
  addressFold,
  addressResource,
  changeAddress,
  clearDefaultAddress,
  removeAddress,
} from '@paylog/domain/addresses/address'
import fc from 'fast-check'
import t from 'tap'
import { foldBatch } from '../apply/batch.ts'
import { newestFirst } from '../queries/listPage.ts'
import { addAddressTo, createLogFixture, type LogFixture, ofGuest, ofUser } from '../testing/logFixture.ts'
import { readModelDatabase, reapply } from '../testing/projectionHarness.ts'
import { addresses } from './projection.ts'
import { getAddress, listAddresses } from './queries.ts'

const time = fc
  .date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString())
const text = fc.option(fc.string({ unit: 'grapheme', maxLength: 12 }).filter((value) => !value.includes('\0')))
const type = fc.constantFrom('billing' as const, 'shipping' as const)
/** A user's address may have a guest's e-mail, which is only contact data. */
const owner = fc.constantFrom(ofUser('u1'), { ...ofUser('u2'), guest_email: 'g@example.com' }, ofGuest('G@example.com'))

const content = {
  address_type: type,
  organization_id: text,
  name: text,
  line2: text,
  state: text,
  postal_code: text,
  country: fc.constantFrom('DE', 'US'),
  is_partial: fc.boolean(),
  is_business: fc.boolean(),
  business_name: fc.constant('Business'),
  tax_id: text,
  tax_id_type: text,
  phone: text,
  email: text,
  alias: text,
  guest_name: text,
}

const step = fc.record({
  address: fc.nat(3),
  occurred_at: time,
  operation: fc.oneof(
    fc.record({ kind: fc.constant('change' as const), changes: fc.record(content, { requiredKeys: [] }) }),
    { weight: 2, arbitrary: fc.constant({ kind: 'choose' as const }) },
    fc.constantFrom({ kind: 'clear' as const }, { kind: 'not default' as const }, { kind: 'remove' as const }),
  ),
})
type Step = typeof step extends fc.Arbitrary<infer Each> ? Each : never

const history = fc.record({
  added: fc.array(fc.record({ owner, given: fc.record(content), chosen: fc.boolean() }), {
    minLength: 1,
    maxLength: 4,
  }),
  steps: fc.array(step, { maxLength: 30, size: 'max' }),
  sizes: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 12 }),
  repeated: fc.boolean(),
})

function applyStep(log: LogFixture, id: string, { operation, occurred_at }: Step, choice: number): void {
  log.record(addressFold, id, (state) => {
    if (state.status !== 'kept') return []
    const { address_type } = state
    const chosen = { address_type, choice }
    if (operation.kind === 'clear') return clearDefaultAddress({ occurred_at, superseded_by: chosen }, state)
    if (operation.kind === 'remove') return removeAddress({ occurred_at }, state)
    if (operation.kind === 'change') return changeAddress({ occurred_at, changes: operation.changes }, state)
    const default_choice = operation.kind === 'choose' ? chosen : null
    return changeAddress({ occurred_at, changes: {}, default_choice }, state)
  })
}

/** By the rule over all addresses of an owner, not by the events of one address. */
function isDefault(address: Address, all: readonly Address[]): boolean {
  const own = all.filter(
    (other) => recordedOwner(other) === recordedOwner(address) && other.address_type === address.address_type,
  )
  const last = Math.max(...own.map(({ default_choice }) => default_choice ?? -1))
  return address.status === 'kept' && address.is_default && address.default_choice === last
}

t.test('addresses: the read model equals the fold of the log for all batch sizes', async (t) => {
  const { pool } = await readModelDatabase(t)
  await fc.assert(
    fc.asyncProperty(history, async ({ added, steps, sizes, repeated }) => {
      await pool.query('delete from read_models.addresses_v1')
      const log = createLogFixture()
      const ids = added.map(({ owner, given, chosen }, index) =>
        addAddressTo(log, { ...owner, ...given, default_choice: chosen ? 40 + index : null, address_id: randomUUID() }),
      )
      // With several processes, the first choice may be recorded last.
      steps.forEach((each, index) => {
        applyStep(log, ids[each.address % ids.length] ?? '', each, (index * 7) % 61)
      })
      await reapply(pool, addresses, log, sizes)
      if (repeated) await reapply(pool, addresses, log, sizes.toReversed())
      const states = ids.map((id) => log.stateOf(addressFold, id)).filter((state) => state.status !== 'none')
      for (const state of states) {
        const { address_id: id } = state
        const found = await getAddress(pool, { id, owner: recordedOwner(state) ?? '' })
        const expected = { ...addressResource(state), is_default: isDefault(state, states) }
        t.same(found?.item, state.status === 'kept' ? expected : undefined)
        const { rows } = await pool.query('select * from read_models.addresses_v1 where id = $1', [id])
        const { revision, default_choice, is_default, is_removed } = rows[0]
        t.equal(revision, log.events.findLast((event) => event.id === id)?.revision)
        t.same(
          { is_default, is_removed, default_choice },
          {
            is_default: state.is_default,
            is_removed: state.status === 'removed',
            default_choice: state.default_choice === null ? null : BigInt(state.default_choice),
          },
        )
      }
      return t.passing()
    }),
    { seed: 6, numRuns: 80, endOnFailure: true },
  )
})

const occurred_at = '2026-03-01T10:00:00.000Z'

t.test('an address whose type changes loses its default, and does not outrank others of the new type', async (t) => {
  const { pool } = await readModelDatabase(t)
  const log = createLogFixture()
  const moved = addAddressTo(log, { default_choice: 9 })
  const billing = addAddressTo(log, { default_choice: 3 })
  const shipping = addAddressTo(log, { address_type: 'shipping', default_choice: 1 })
  const defaults = async () => {
    await reapply(pool, addresses, log)
    const query = { owner: userOwner('u1'), guest_email: undefined, address_type: undefined, page: 1, limit: 50 }
    const { items } = await listAddresses(pool, { ...query, ...newestFirst })
    return items.flatMap(({ id, is_default }) => (is_default ? [id] : [])).toSorted()
  }
  t.same(await defaults(), [moved, shipping].toSorted(), 'each type has its own default')
  const change = { occurred_at, changes: { address_type: 'shipping' as const } }
  log.record(addressFold, moved, (state) => changeAddress(change, state))
  t.same(await defaults(), [billing, shipping].toSorted())
  const chosen = { occurred_at, changes: {}, default_choice: { address_type: 'shipping' as const, choice: 2 } }
  log.record(addressFold, moved, (state) => changeAddress(chosen, state))
  t.same(await defaults(), [billing, moved].toSorted())
  log.record(addressFold, moved, (state) => removeAddress({ occurred_at }, state))
  t.same(await defaults(), [billing], 'a removed address outranks older choices')
})

t.test('changes of one batch become one patch of the changed columns', async (t) => {
  const log = createLogFixture()
  const id = addAddressTo(log, { default_choice: 4, alias: 'home' })
  for (const changes of [{ line2: 'Rear' }, { address_type: 'shipping' as const, alias: null }])
    log.record(addressFold, id, (state) => changeAddress({ occurred_at, changes }, state))
  const { inserts, patches } = foldBatch(addresses, log.events.slice(1))
  t.same(inserts, [])
  t.same(patches, [
    {
      id,
      revision: 2n,
      values: {
        line2: 'Rear',
        address_type: 'shipping',
        alias: null,
        is_default: false,
        default_choice: null,
        updated_at: occurred_at,
      },
    },
  ])
})
