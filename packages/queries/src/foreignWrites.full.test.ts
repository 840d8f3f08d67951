// With a running projector: reads after a write to another read model.

import { projections } from '@paylog/projections/registry'
import { addAddressTo, addMethodTo, createLogFixture, ofUser } from '@paylog/projections/testing/logFixture'
import { projectorHarness } from '@paylog/projections/testing/projectorHarness'
import { append, openPayment } from '@paylog/projections/testing/traffic'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { asAda, asAdmin, queryApiHarness } from './testing/queryApiHarness.ts'

t.test('a read after an unrelated write is not stale', async (t) => {
  const { pool, store, startProjector } = await projectorHarness(t)
  const { get } = await queryApiHarness(t, pool)
  const projector = await startProjector()
  const running = () => projector.output().split('projection runs').length - 1
  await waitFor(() => running() === projections.length, { what: 'all projections to run' })
  const appendOne = async (make: (log: ReturnType<typeof createLogFixture>) => void) => {
    const log = createLogFixture()
    make(log)
    const [event] = log.events
    return event && (await append(store, event))
  }
  const writes = {
    payment: async () => {
      await openPayment(store)
      return (await store.head())?.commit
    },
    'payment method': () => appendOne((log) => addMethodTo(log, ofUser('u1'))),
    address: () => appendOne((log) => addAddressTo(log, ofUser('u1'))),
  }
  for (let round = 0; round < 2; round++)
    for (const [what, write] of Object.entries(writes))
      for (const url of ['/payments?include=payment_method', '/payment-methods', '/addresses', '/admin/products']) {
        const position = await write()
        const caller = url.startsWith('/admin') ? asAdmin : asAda
        const { statusCode, headers } = await get(url, { ...caller, 'x-read-after': String(position) })
        t.equal(statusCode, 200)
        t.notOk('x-read-stale' in headers, `${url} after a ${what}`)
      }
})
