// A log for tests that leave its node alone: inside the process of the test, which is a third cheaper than one of its own.
import { startNode } from '@paylog/event-store-node/node'
import { createLog } from '@paylog/runtime/telemetry/log'
import type { Test } from 'tap'
import { createMigratedDatabase } from './migratedDatabase.ts'

/** Starts a node on a database of its own, which has the tables of the apps as well; it ends with the test. */
export async function startEventStoreInProcess(
  t: Test,
): Promise<{ readonly connectionString: string; readonly databaseUrl: string }> {
  const { databaseUrl } = await createMigratedDatabase(t)
  const node = await startNode({
    host: '127.0.0.1',
    port: 0,
    databaseUrl,
    log: createLog({ app: 'event-store-node', level: 'silent' }),
    fail: (error) => t.fail('the node gave up', { error }),
  })
  t.teardown(() => node.stop())
  return { connectionString: `esdb://127.0.0.1:${node.port}?tls=false`, databaseUrl }
}
