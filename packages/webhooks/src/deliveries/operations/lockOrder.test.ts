import { testCycles } from '@paylog/testing/testEnvironment'
import t from 'tap'
import { batchOf } from '../../testing/paymentFixture.ts'
import { createWorkerHarness } from '../../testing/workerHarness.ts'
import type { AttemptResult } from '../tables/results.ts'
import { enableEndpoint, redeliver } from './redelivery.ts'

const rounds = testCycles(10)
const endpoint = { WEBHOOK_1_ENABLED: 'true', WEBHOOK_1_URL: 'http://127.0.0.1:9' }
const failed = { ms: 1, httpStatus: 500, error: 'http', responseBody: null } as const
const gone = { ...failed, httpStatus: 410, error: 'gone' }

/** Operator commands that run while the worker records attempts for the same deliveries. */
const cases = {
  redelivering: [failed, (pool, ids, at) => redeliver(pool, ids, at)],
  'enabling a paused endpoint': [gone, (pool, _ids, at) => enableEndpoint(pool, '1', at)],
} satisfies Record<
  string,
  [typeof failed | typeof gone, (pool: Parameters<typeof redeliver>[0], ids: string[], at: Date) => Promise<unknown>]
>

for (const [name, [response, command]] of Object.entries(cases))
  t.test(`${name} while attempts are recorded does not deadlock`, async (t) => {
    const { pool, dispatcher, deliveries } = await createWorkerHarness(t, 'postgres', endpoint)
    await dispatcher.start()
    await dispatcher.handle(batchOf(100))
    await pool.query(`insert into webhooks.nodes (name) values ('1')`)
    for (let round = 0; round < rounds; round++) {
      const { rows } = await pool.query<{ id: string; attempts: number; series_start: number }>(
        'select id, attempts, series_start from webhooks.deliveries order by random()',
      )
      const at = new Date()
      const pausesEndpoint = response === gone
      const results = rows.map(
        ({ id, attempts, series_start }): AttemptResult => ({
          ...response,
          deliveryId: id,
          attempt: attempts + 1,
          seriesStart: series_start,
          at,
          nextAttemptAt: at,
          pausesEndpoint,
        }),
      )
      const ids = rows.map(({ id }) => id)
      await Promise.all([...results.map(deliveries.finish), command(pool, ids, at)])
    }
    const { rows } = await pool.query<{ attempts: number }>('select distinct attempts from webhooks.deliveries')
    t.strictSame(rows, [{ attempts: rounds }])
  })
