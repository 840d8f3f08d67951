import { guestOwner, userOwner } from '@paylog/domain/actor'
import { paymentMethodFold, removePaymentMethod } from '@paylog/domain/payment-methods/paymentMethod'
import { readItem, readPage } from '@paylog/queries/lists/lists'
import { paymentMethodList } from '@paylog/queries/payment-methods/queries'
import t from 'tap'
import { foldBatch } from '../apply/batch.ts'
import { defaults } from '../defaults/projection.ts'
import { addMethodTo, createLogFixture, type LogFixture, ofGuest, ofUser, setDefaultIn } from '../testing/logFixture.ts'
import { readModelDatabase, reapply } from '../testing/projectionHarness.ts'
import { paymentMethods } from './projection.ts'

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
