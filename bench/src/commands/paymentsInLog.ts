// Checks that every acknowledged payment is in the log exactly once.
import { createEventStore } from '@paylog/event-store/eventStore'
import type { BenchmarkRow } from '../harness/benchmark.ts'
import type { CommandSystem } from './commandSystem.ts'

/** @param acknowledged ids of all payments with a 201 response */
export async function paymentsInLog(
  { connectionString, server }: Pick<CommandSystem, 'connectionString' | 'server'>,
  acknowledged: readonly string[],
): Promise<BenchmarkRow[]> {
  const store = createEventStore({ connectionString, keys: server.keys })
  const counts = new Map<string, { initiated: number; created: number }>()
  try {
    for await (const event of store.readLog({ prefixes: ['payment-'] })) {
      if (event.type !== 'PaymentInitiated' && event.type !== 'ProviderIntentCreated') continue
      const count = counts.get(event.data.payment_id) ?? { initiated: 0, created: 0 }
      if (event.type === 'PaymentInitiated') count.initiated += 1
      else count.created += 1
      counts.set(event.data.payment_id, count)
    }
  } finally {
    await store.close()
  }
  const once = acknowledged.filter((id) => counts.get(id)?.initiated === 1 && counts.get(id)?.created === 1).length
  const others = counts.size - new Set(acknowledged).size
  return [
    {
      name: 'acknowledged payments that are in the log exactly once',
      figure: once,
      unit: 'payments',
      bound: { name: '201 responses', figure: acknowledged.length },
      target: { of: 'ratio', atLeast: 1 },
    },
    {
      name: 'payments in the log without a response',
      figure: others,
      unit: 'payments',
      target: { of: 'figure', atMost: 0 },
    },
  ]
}
