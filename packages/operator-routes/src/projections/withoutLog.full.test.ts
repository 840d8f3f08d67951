// The projections while the event store is down.
import { recordLags } from '@paylog/projections/lag'
import t from 'tap'
import { operatorHarness } from '../testing/operatorHarness.ts'
import type { ProjectionState } from './projectionState.ts'

t.test('without the event store the list shows the lag that a projector reported, and a rebuild fails', async (t) => {
  const { get, post, ended, pool, eventStore } = await operatorHarness(t)
  await eventStore.kill()
  await recordLags(pool, new Map([['payments', { events: 3, isMore: false, seconds: 1.5 }]]))
  const { data } = (await get('/admin/projections')).json()
  const lagOf = (name: string) => data.find(({ projection }: ProjectionState) => projection === name)?.lag
  t.same(lagOf('payments'), { events: 3, is_more: false, seconds: 1.5 })
  t.equal(lagOf('addresses'), null)
  const started = (await post('/admin/projections/addresses/rebuild')).json().data
  t.match(await ended(started.id), { status: 'failed', result: null, error: /event store/i })
})
