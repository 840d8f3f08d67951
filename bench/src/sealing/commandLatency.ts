// How long a command takes: POST /payments/intents of command-api, and of one whose events are not sealed.
import { randomBytes } from 'node:crypto'
import { freePort } from '@paylog/testing/processes'
import { authorization, order } from '../commands/payments.ts'
import { startPrivateServer } from '../event-store/privateServer.ts'
import {
  alternateRounds,
  type BenchmarkOptions,
  type BenchmarkRow,
  quantile,
  summarizeRounds,
} from '../harness/benchmark.ts'
import { measureLoad } from '../harness/load.ts'
import { startBenchmarkProgram } from '../harness/program.ts'

const payers = {
  'a known user': () => ({ head: `authorization: ${authorization}\r\n`, body: order }),
  'a new guest': () => {
    const guest_data = { email: `guest-${randomBytes(8).toString('hex')}@example.com` }
    return { head: '', body: JSON.stringify({ ...JSON.parse(order), guest_data }) }
  },
}

/** Both use the same event store, in alternating rounds. */
export async function commandLatency(
  { stack }: BenchmarkOptions,
  { rounds, seconds }: { readonly rounds: number; readonly seconds: number },
): Promise<{ readonly postgres: string; readonly rows: readonly BenchmarkRow[] }> {
  const { postgres, connectionString } = await startPrivateServer(stack)
  const identityPort = await freePort()
  const start = async (script: string, env: Readonly<Record<string, string>>) => {
    await startBenchmarkProgram(new URL(script, import.meta.url), { env, stack })
  }
  await start('../../../apps/local/src/identity.ts', { PORT: String(identityPort) })
  const startApi = async (script: string) => {
    const port = await freePort()
    await start(script, {
      PORT: String(port),
      EVENTSTORE_URL: connectionString,
      DATABASE_URL: postgres.databaseUrl,
      AUTH_URL: `http://127.0.0.1:${identityPort}`,
      SANDBOX_PROVIDER: 'true',
      SANDBOX_WEBHOOK_SECRET: randomBytes(24).toString('hex'),
    })
    return port
  }
  const sealed = await startApi('../../../apps/command-api/src/main.ts')
  const open = await startApi('./openCommandApi.ts')
  const rows: BenchmarkRow[] = []
  for (const [payer, request] of Object.entries(payers)) {
    for (const connections of [1, 64]) {
      const measure = async (port: number) => {
        const load = { port, connections, seconds, rate: undefined, expectedStatus: 201 }
        return (await measureLoad(load, () => rawRequest(request()), Math.random)).map(({ ms }) => ms)
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
      for (const [name, q] of [
        ['p50', 0.5],
        ['p99', 0.99],
      ] as const) {
        rows.push({
          name: `POST /payments/intents, ${payer}, ${connections} in flight, ${name}`,
          unit: 'ms',
          ...summarizeRounds(
            pairs.map(({ ours, bare }) => ({ ours: quantile(ours, q), bare: quantile(bare, q) })),
            'not sealed',
          ),
          ...(name === 'p50' && payer === 'a known user' && { target: { of: 'ratio', atMost: 1.1 } as const }),
        })
      }
    }
  }
  return { postgres: postgres.description, rows }
}

function rawRequest({ head, body }: { readonly head: string; readonly body: string }): string {
  return `POST /payments/intents HTTP/1.1\r\nhost: bench\r\n${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}
