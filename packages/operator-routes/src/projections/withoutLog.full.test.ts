// The projections while the event store is down.
import { createEventStore } from '@paylog/event-store/eventStore'
import { recordLags } from '@paylog/projections/lag'
import { startEventStore } from '@paylog/testing/eventStore'
import t from 'tap'
import { operatorHarness } from '../testing/operatorHarness.ts'
import type { ProjectionState } from './projectionState.ts'

t.test(
  'without the event store the list shows the lag that a projector reported, and a rebuild is refused',
  async (t) => {
    const eventStore = await startEventStore(t)
    const timing = { appendRetryTimeoutMs: 500 }
    const store = createEventStore({ connectionString: eventStore.connectionString, keys: eventStore.keys, timing })
    const { get, post, pool } = await operatorHarness(t, { store }, eventStore)
    await eventStore.kill()
    await recordLags(pool, new Map([['payments', { events: 3, isMore: false, seconds: 1.5 }]]))
    const { data } = (await get('/admin/projections')).json()
    const lagOf = (name: string) => data.find(({ projection }: ProjectionState) => projection === name)?.lag
    t.same(lagOf('payments'), { events: 3, is_more: false, seconds: 1.5 })
    t.equal(lagOf('addresses'), null)
    const rebuild = await post('/admin/projections/addresses/rebuild')
    t.match(rebuild.json(), { error: { code: 'event_store_unavailable' } })
    t.same((await get('/admin/jobs')).json().data, [])
  },
)
