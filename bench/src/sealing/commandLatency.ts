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
import { type Load, measureLoad } from '../harness/load.ts'
import { startBenchmarkProgram } from '../harness/program.ts'

let guests = 0
const payers = {
  'a known user': () => ({ head: `authorization: ${authorization}\r\n`, body: order }),
  'a new guest': () => {
    guests += 1
    const guest_data = { email: `guest-${guests}@example.com` }
    return { head: '', body: JSON.stringify({ ...JSON.parse(order), guest_data }) }
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
  const { postgres, sealed, open } = await startSystem(stack)
  const rows: BenchmarkRow[] = []
  for (const [payer, request] of Object.entries(payers)) {
    for (const [name, load] of Object.entries(loads)) {
      const measure = async (port: number) => {
        const timed = { ...load, port, seconds, expectedStatus: 201 }
        return (await measureLoad(timed, () => rawRequest(request()), Math.random)).map(({ ms }) => ms)
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
  return { postgres: postgres.description, rows }
}

async function startSystem(stack: AsyncDisposableStack) {
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
      RATE_LIMIT_ANONYMOUS_PER_MINUTE: '0',
      SANDBOX_PROVIDER: 'true',
      SANDBOX_WEBHOOK_SECRET: randomBytes(24).toString('hex'),
    })
    return port
  }
  const sealed = await startApi('../../../apps/command-api/src/main.ts')
  return { postgres, sealed, open: await startApi('./openCommandApi.ts') }
}

function rawRequest({ head, body }: { readonly head: string; readonly body: string }): string {
  const lines = ['POST /payments/intents HTTP/1.1', 'host: bench', 'content-type: application/json']
  return `${lines.join('\r\n')}\r\n${head}content-length: ${body.length}\r\n\r\n${body}`
}
