// One stream feeds a row: the revision of the row is that of the stream, and a change of another one would be lost.
import t from 'tap'
import { projections } from './registry.ts'
import {
  addActionTo,
  addAddressTo,
  addMethodTo,
  addPaymentTo,
  addProductTo,
  createLogFixture,
  setDefaultIn,
  user,
} from './testing/logFixture.ts'

const log = createLogFixture()
for (let made = 0; made < 2; made += 1) {
  addPaymentTo(log, user('00000000-0000-4000-8000-000000000001'))
  setDefaultIn(log, { chosen_id: addMethodTo(log) })
  addAddressTo(log)
  addProductTo(log)
  addActionTo(log)
}

for (const { name, changeOf } of projections)
  t.test(`${name}: events of different streams change different rows`, async (t) => {
    const streams = new Map<string, string>()
    for (const event of log.events) {
      const row = changeOf(event)?.id
      if (row === undefined) continue
      t.equal(streams.get(row) ?? event.id, event.id, `${event.type} changes ${row}`)
      streams.set(row, event.id)
    }
  })
