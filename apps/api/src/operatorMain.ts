// The operator API as a process, which also serves the documentation of all three APIs and the console.
// biome-ignore-all lint/style/noProcessEnv: the webhook endpoints have no fixed list of variables, so all of them are passed on.

import { loadOperatorConfig, operatorVariables } from '@paylog/administration/config'
import { wireOperatorApi } from '@paylog/administration/operatorApi'
import { startDataKeys } from '@paylog/privacy/startDataKeys'
import { apiVariables, serveApi } from '@paylog/runtime/http/apiServer'
import { createHealth } from '@paylog/runtime/process/health'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { Type } from 'typebox'
import { describeApi } from './describeApi.ts'
import { documentOf } from './openApi.ts'

const Config = Type.Object({ ...apiVariables, ...operatorVariables })

runApp('operator-api', async ({ log, lifecycle }) => {
  const config = loadOperatorConfig(Config, process.env)
  const describe = documentOf(await describeApi(log))
  const keys = await startDataKeys(config, { log, lifecycle })
  const parts = {
    app: 'operator-api',
    keys,
    log,
    lifecycle,
    health: createHealth(),
    metrics: createMetrics(),
    describe,
  }
  return { url: await serveApi(config, parts, wireOperatorApi(config, parts)) }
})
