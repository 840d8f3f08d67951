import { DomainError } from '@paylog/domain/errors'
import { paymentMethodFold, refreshPaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import { paymentMethodStream } from '@paylog/event-store/streamName'
import t from 'tap'
import { visa } from '../testing/methodNotificationHarness.ts'
import { interleaved, newGuest, newUser, savedMethodHarness } from '../testing/savedMethodHarness.ts'
import { crashAfter, metadata } from '../testing/workflowHarness.ts'

const { workflow, store, vault, idOf, newToken, typesOf, save, change, remove, stateOf } = await savedMethodHarness(t)

t.beforeEach(() => {
  vault.scenery.meanwhile = async () => undefined
  vault.calls.length = 0
})

const streamOf = (token: string) => paymentMethodStream(idOf(token))

/** A notification takes over another expiry. */
const refresh = (token: string) =>
  store.handle({
    stream: streamOf(token),
    fold: paymentMethodFold,
    decide: (state) =>
      refreshPaymentMethod({ occurred_at: new Date().toISOString(), details: { ...visa, expiry_year: '2039' } }, state),
    metadata,
  })

/** If-Match of a client that has seen the method as it was added. */
function asAdded(revision: bigint | 'no_stream'): void {
  if (revision !== 0n) throw new DomainError('precondition_failed', 'It was changed since')
}

t.test('what is detached is removed, whatever became of it meanwhile', async (t) => {
  const by = newUser()
  for (const happens of ['refreshed', 'renamed', 'removed'] as const) {
    const token = newToken()
    await save({ by, token })
    vault.scenery.meanwhile = async () => {
      vault.scenery.meanwhile = async () => undefined
      if (happens === 'refreshed') return refresh(token)
      if (happens === 'renamed') return change({ by, token }, { alias: 'Changed meanwhile' })
      return remove({ by, token })
    }
    const { method } = await remove({ by, token }, { permit: asAdded })
    t.equal(method.status, 'removed', happens)
    const types = await typesOf(streamOf(token))
    t.equal(types.filter((type) => type === 'PaymentMethodRemoved').length, 1, happens)
    t.equal(types.at(-1), 'PaymentMethodRemoved', happens)
  }
})

t.test('the owner is asked before the provider is, and then nothing is detached', async (t) => {
  const by = newUser()
  const token = newToken()
  await save({ by, token })
  await refresh(token)
  vault.calls.length = 0
  await t.rejects(remove({ by, token }, { permit: asAdded }), { code: 'precondition_failed' })
  t.same(vault.calls, [])
  t.match(await stateOf(token), { status: 'saved' })
})

t.test("a guest's method is removed only as the guest has seen it", async (t) => {
  const by = newGuest()
  const token = newToken()
  await save({ by, token })
  vault.calls.length = 0
  const on = interleaved(workflow, streamOf(token), () => refresh(token))
  await t.rejects(remove({ by, token, on }, { permit: asAdded }), { code: 'precondition_failed' })
  t.match(await stateOf(token), { status: 'saved', expiry_year: '2039' })
  t.match((await remove({ by, token })).method, { status: 'removed' })
  t.same(vault.calls, [], 'and the provider is not asked')
})

t.test('a guest whose method has become another one meanwhile removes nothing', async (t) => {
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

t.test('a process that died after the detach is no obstacle to the next', async (t) => {
  const by = newUser()
  const token = newToken()
  await save({ by, token }, { is_default: true })
  await t.rejects(remove({ by, token, on: crashAfter(0, workflow) }))
  t.match(await stateOf(token), { status: 'saved' }, 'what is not on record is not said')
  t.notOk(vault.customers.has(token))
  t.match((await remove({ by, token })).method, { status: 'removed', is_default: false })
  await t.rejects(remove({ by, token }), { code: 'not_found' })
})
