// Which processes there are, and whether they are ready.
import type { Health } from '@paylog/runtime/process/health'
import type { Logger } from '@paylog/runtime/telemetry/log'
import { type Static, Type } from 'typebox'
import { Value } from 'typebox/value'
import manifest from '../../package.json' with { type: 'json' }
import { ProcessState, type SystemState } from './systemState.ts'

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
  let latest: { readonly at: number; readonly state: Promise<SystemState> } | undefined

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

  return {
    read(log) {
      if (latest === undefined || performance.now() - latest.at > maxAgeMs)
        latest = { at: performance.now(), state: readAll(log) }
      return latest.state
    },
  }
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
