// Serves the documentation of the whole API where no process serves both sides. It connects to nothing.
import { loadConfig } from '@paylog/config/environment'
import { apiVariables, serveApi } from '@paylog/runtime/http/apiServer'
import { createHealth } from '@paylog/runtime/process/health'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { Type } from 'typebox'
import { describeApi } from './describeApi.ts'
import { documentOf } from './openApi.ts'

const Config = Type.Object(apiVariables)

runApp('docs', async ({ log, lifecycle }) => {
  const config = loadConfig(Config)
  const describe = documentOf(await describeApi(log))
  const parts = { log, lifecycle, health: createHealth(), metrics: createMetrics(), describe }
  return { url: await serveApi(config, parts, async () => undefined) }
})
