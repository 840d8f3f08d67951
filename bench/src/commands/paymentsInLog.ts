// Checks that every acknowledged payment is in the log exactly once.
import { createEventStore } from '@paylog/event-store/eventStore'
import type { BenchmarkRow } from '../harness/benchmark.ts'

/** @param answered ids of all payments with a 201 response */
export async function paymentsInLog(
  { connectionString }: { readonly connectionString: string },
  answered: readonly string[],
): Promise<BenchmarkRow[]> {
  const store = createEventStore({ connectionString })
  const counts = new Map<string, { begun: number; made: number }>()
  try {
    for await (const event of store.readLog({ prefixes: ['payment-'] })) {
      if (event.type !== 'PaymentInitiated' && event.type !== 'ProviderIntentCreated') continue
      const count = counts.get(event.data.payment_id) ?? { begun: 0, made: 0 }
      if (event.type === 'PaymentInitiated') count.begun += 1
      else count.made += 1
      counts.set(event.data.payment_id, count)
    }
  } finally {
    await store.close()
  }
  const once = answered.filter((id) => counts.get(id)?.begun === 1 && counts.get(id)?.made === 1).length
  const others = counts.size - new Set(answered).size
  return [
    {
      name: 'acknowledged payments that are in the log exactly once',
      figure: once,
      unit: 'payments',
      bound: { name: '201 responses', figure: answered.length },
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
