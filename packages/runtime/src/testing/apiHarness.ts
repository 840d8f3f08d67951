// Runs an API in the test's process, the way the apps serve it.

import type { FastifyPluginAsync } from 'fastify'
import type { Test } from 'tap'
import { Type } from 'typebox'
import { loadConfig } from '../config/environment.ts'
import { apiVariables, serveApi } from '../http/apiServer.ts'
import { createHealth } from '../process/health.ts'
import { createLog } from '../telemetry/log.ts'
import { createMetrics } from '../telemetry/metrics.ts'

export type ApiHarness = {
  readonly url: string
  /** Its log lines. */
  readonly logged: readonly string[]
}

/** Serves `api` until the test ends. @param variables environment variables of the API */
export async function apiHarness(
  t: Test,
  variables: Readonly<Record<string, string>>,
  api: FastifyPluginAsync,
): Promise<ApiHarness> {
  const config = loadConfig(Type.Object(apiVariables), { PORT: '0', ...variables })
  const logged: string[] = []
  const { signal } = new AbortController()
  const stops: (() => Promise<void> | void)[] = []
  const lifecycle = {
    add: (_name: string, stop: () => Promise<void> | void) => void stops.unshift(stop),
    stopping: signal,
    givingUp: signal,
    fail: (error: unknown) => t.fail(String(error)),
  }
  t.teardown(async () => {
    for (const stop of stops) await stop()
  })
  const parts = {
    log: createLog({ app: 'test' }, { write: (line) => void logged.push(line) }),
    lifecycle,
    health: createHealth(),
    metrics: createMetrics(),
  }
  return { url: await serveApi(config, parts, api), logged }
}
