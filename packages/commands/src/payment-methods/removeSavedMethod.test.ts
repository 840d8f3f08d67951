import { DomainError } from '@paylog/domain/errors'
import { paymentMethodFold, refreshPaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { visa } from '../testing/fakeVault.ts'
import { interleaved, newGuest, newUser, savedMethodHarness } from '../testing/savedMethodHarness.ts'
import { crashAfter, metadata } from '../testing/workflowHarness.ts'

const { workflow, store, fake, idOf, newToken, typesOf, save, change, remove, stateOf } = await savedMethodHarness(t)

const streamOf = (token: string) => paymentMethodStream(idOf(token))

/** Changes the expiry date, as a notification does. */
const refresh = (token: string) =>
  store.handle({
    stream: streamOf(token),
    fold: paymentMethodFold,
    decide: (state) =>
      refreshPaymentMethod({ occurred_at: new Date().toISOString(), details: { ...visa, expiry_year: '2039' } }, state),
    metadata,
  })

/** If-Match with the revision at which the method was added. */
function asAdded(revision: bigint | 'no_stream'): void {
  if (revision !== 0n) throw new DomainError('precondition_failed', 'It was changed since')
}

t.test('a detached method is removed despite concurrent changes', async (t) => {
  const by = newUser()
  for (const happens of ['refreshed', 'renamed', 'removed'] as const) {
    const token = newToken()
    await save({ by, token })
    fake.meanwhile = async () => {
      fake.meanwhile = undefined
      if (happens === 'refreshed') return refresh(token)
      if (happens === 'renamed') return change({ by, token }, { alias: 'Changed meanwhile' })
      return remove({ by, token })
    }
    const { state } = await remove({ by, token }, { checkRevision: asAdded })
    t.equal(state.status, 'removed', happens)
    const types = await typesOf(streamOf(token))
    t.equal(types.filter((type) => type === 'PaymentMethodRemoved').length, 1, happens)
    t.equal(types.at(-1), 'PaymentMethodRemoved', happens)
  }
})

t.test('a failed If-Match keeps the method attached at the provider', async (t) => {
  const by = newUser()
  const token = newToken()
  await save({ by, token })
  await refresh(token)
  fake.calls.length = 0
  await t.rejects(remove({ by, token }, { checkRevision: asAdded }), { code: 'precondition_failed' })
  t.same(fake.calls, [])
  t.match(await stateOf(token), { status: 'saved' })
})

t.test("removing a guest's method fails after a concurrent change", async (t) => {
  const by = newGuest()
  const token = newToken()
  await save({ by, token })
  fake.calls.length = 0
  const on = interleaved(workflow, streamOf(token), () => refresh(token))
  await t.rejects(remove({ by, token, on }, { checkRevision: asAdded }), { code: 'precondition_failed' })
  t.match(await stateOf(token), { status: 'saved', expiry_year: '2039' })
  t.match((await remove({ by, token })).state, { status: 'removed' })
  t.same(fake.calls, [])
})

t.test('removing a method that became another guest’s meanwhile is not_found', async (t) => {
  const [by, other] = [newGuest(), newGuest()]
  const token = newToken()
  await save({ by, token })
  const on = interleaved(workflow, streamOf(token), async () => {
    await remove({ by, token })
    await save({ by: other, token })
  })
  await t.rejects(remove({ by, token, on }), { code: 'not_found' })
  t.match(await stateOf(token), { status: 'saved', guest_email: other.guest_email })
})

t.test('a method can be removed after a crash between detaching and recording', async (t) => {
  const by = newUser()
  const token = newToken()
  await save({ by, token }, { is_default: true })
  await t.rejects(remove({ by, token, on: crashAfter(0, workflow) }))
  t.match(await stateOf(token), { status: 'saved' }, 'the removal is not recorded yet')
  t.notOk(fake.vault.customers.has(token))
  t.match((await remove({ by, token })).state, { status: 'removed' })
  await t.rejects(remove({ by, token }), { code: 'not_found' })
})
