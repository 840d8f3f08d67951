// Whether every payment that a client was told of is on record, once.
import { createEventStore } from '@paylog/event-store/eventStore'
import type { BenchmarkRow } from '../harness/benchmark.ts'

/** @param answered ids of all payments that were answered with 201 */
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
      name: 'answered payments that are in the log, once',
      figure: once,
      unit: 'payments',
      bound: { name: 'answered with 201', figure: answered.length },
      target: { of: 'ratio', atLeast: 1 },
    },
    {
      name: 'payments in the log that nobody was told of',
      figure: others,
      unit: 'payments',
      target: { of: 'figure', atMost: 0 },
    },
  ]
}
