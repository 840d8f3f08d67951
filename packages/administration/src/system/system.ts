// Which processes there are, and whether they are ready.
import { Checks } from '@paylog/runtime/http/openApiSchemas'
import type { Health } from '@paylog/runtime/process/health'
import { reused } from '@paylog/runtime/process/shared'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import manifest from '../../package.json' with { type: 'json' }

const ProcessState = Type.Object(
  {
    name: Type.String(),
    status: Type.Enum(['ready', 'unavailable', 'stopping', 'unreachable'], {
      description: 'As its health page says; unreachable when that does not respond within two seconds',
    }),
    checks: Checks,
    ms: Type.Number({ description: 'How long the health page took to respond' }),
  },
  { title: 'Process' },
)
type ProcessState = Static<typeof ProcessState>

export const SystemState = Type.Object({
  version: Type.String({ description: 'The version of Paylog that responds' }),
  processes: Type.Array(ProcessState, { description: 'The process that responds, then those of HEALTH_URLS' }),
})
export type SystemState = Static<typeof SystemState>

export const exampleSystem: SystemState = {
  version: '1.0.0',
  processes: [
    { name: 'api', status: 'ready', checks: { event_store: { ok: true, head: '4711' } }, ms: 1.2 },
    { name: 'worker', status: 'unreachable', checks: {}, ms: 2000.4 },
  ],
}

export type System = {
  /** The state of a second ago, or the present one. @param log gets the reasons why this process is not ready */
  read(log: Pick<Logger, 'warn'>): Promise<SystemState>
}

const timeoutMs = 2_000
const maxAgeMs = 1_000

/** The response of a health page. */
const HealthPage = Type.Pick(ProcessState, ['status', 'checks'])
type HealthPage = Static<typeof HealthPage>

const unreachable: HealthPage = { status: 'unreachable', checks: {} }

/**
 * @param app the name of this process
 * @param others the other processes: `name=url`, the URL without a path
 */
export function createSystem({
  app,
  health,
  others,
}: {
  readonly app: string
  readonly health: Health
  readonly others: readonly string[]
}): System {
  async function readAll(log: Pick<Logger, 'warn'>): Promise<SystemState> {
    const processes = [
      timed(app, health.readiness(log)),
      ...others.map((other) => {
        const [name = '', url = ''] = other.split(/=(.*)/)
        return timed(name, readHealthPage(url))
      }),
    ]
    return { version: manifest.version, processes: await Promise.all(processes) }
  }

  return { read: reused(maxAgeMs, readAll) }
}

async function timed(name: string, page: Promise<HealthPage>): Promise<ProcessState> {
  const startedAt = performance.now()
  const { status, checks } = await page
  return { name, status, checks, ms: Math.round((performance.now() - startedAt) * 10) / 10 }
}

/** `unreachable` for a process that does not respond in time, and for a response that is not one of a health page. */
async function readHealthPage(url: string): Promise<HealthPage> {
  try {
    const signal = AbortSignal.timeout(timeoutMs)
    const response = await fetch(new URL('/health/ready', url), { signal, redirect: 'error' })
    const page: unknown = await response.json()
    return Value.Check(HealthPage, page) ? page : unreachable
  } catch {
    return unreachable
  }
}
