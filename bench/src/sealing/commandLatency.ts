// How long a command takes: POST /payments/intents of command-api, and of one whose events are not sealed.
import { startCommandApi, startIdentity } from '../commands/commandSystem.ts'
import { authorization, order, rawPost } from '../commands/payments.ts'
import { startPrivateServer } from '../event-store/privateServer.ts'
import {
  alternateRounds,
  type BenchmarkOptions,
  type BenchmarkRow,
  quantile,
  summarizeRounds,
} from '../harness/benchmark.ts'
import { type Load, measureLoad } from '../harness/load.ts'

let guests = 0
const payers = {
  'a known user': () => ({ head: [`authorization: ${authorization}`], body: order }),
  'a new guest': () => {
    guests += 1
    const guest_data = { email: `guest-${guests}@example.com` }
    return { body: JSON.stringify({ ...JSON.parse(order), guest_data }) }
  },
}

/** The last one takes all of both cores, so that its times are those of the throughput. */
const loads: Readonly<Record<string, Pick<Load, 'connections' | 'rate'>>> = {
  '1 in flight': { connections: 1, rate: undefined },
  '100 a second': { connections: 16, rate: 100 },
  '64 in flight': { connections: 64, rate: undefined },
}

/** Both use the same event store, in alternating rounds. */
export async function commandLatency(
  { stack }: BenchmarkOptions,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<{ readonly postgres: string; readonly rows: readonly BenchmarkRow[] }> {
  const server = await startPrivateServer(stack)
  const { authUrl } = await startIdentity(stack)
  const { port: sealed } = await startCommandApi(stack, { server, authUrl })
  const script = new URL('./openCommandApi.ts', import.meta.url)
  const { port: open } = await startCommandApi(stack, { server, authUrl, script })
  const rows: BenchmarkRow[] = []
  for (const [payer, request] of Object.entries(payers)) {
    for (const [name, load] of Object.entries(loads)) {
      const measure = async (port: number) => {
        const timed = { ...load, port, seconds, expectedStatus: 201 }
        return (await measureLoad(timed, () => rawPost('/payments/intents', request()), Math.random)).map(
          ({ ms }) => ms,
        )
      }
      const both = (count: number) =>
        alternateRounds(
          count,
          () => measure(sealed),
          () => measure(open),
        )
      // A warm-up: query plans are made and code is compiled.
      await both(1)
      const pairs = await both(rounds)
      const row = (percent: number): BenchmarkRow => {
        const compared = pairs.map(({ ours, bare }) => ({
          ours: quantile(ours, percent / 100),
          bare: quantile(bare, percent / 100),
        }))
        return {
          name: `POST /payments/intents, ${payer}, ${name}, p${percent}`,
          unit: 'ms',
          ...summarizeRounds(compared, 'not sealed'),
        }
      }
      const isTarget = payer === 'a known user' && load.connections < 64
      rows.push({ ...row(50), ...(isTarget && { target: { of: 'ratio', atMost: 1.1 } }) }, row(99))
    }
  }
  return { postgres: server.postgres.description, rows }
}
