// One base URL for all APIs: command, query and operator API on one Fastify, with one OpenAPI document.
// biome-ignore-all lint/style/noProcessEnv: the webhook endpoints have no fixed list of variables, so all of them are passed on.

import { operatorVariables } from '@paylog/administration/config'
import { wireOperatorApi } from '@paylog/administration/operatorApi'
import { wireCommandApi } from '@paylog/commands/commandApi'
import { commandVariables, loadCommandConfig } from '@paylog/commands/config'
import { startDataKeys } from '@paylog/privacy/startDataKeys'
import { queryVariables } from '@paylog/queries/config'
import { wireQueryApi } from '@paylog/queries/queryApi'
import { bool } from '@paylog/runtime/config/kinds'
import { apiVariables, serveApi } from '@paylog/runtime/http/apiServer'
import { createHealth } from '@paylog/runtime/process/health'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { Type } from 'typebox'
import { demoCredentials } from './demoCredentials.ts'
import { openApi } from './openApi.ts'

const Config = Type.Object({
  ...apiVariables,
  ...commandVariables,
  ...queryVariables,
  ...operatorVariables,
  /** Shows the credentials of the demo identity on /docs; `npm start` sets it when it runs that identity. */
  DOCS_DEMO_CREDENTIALS: bool(false),
})

runApp('api', async ({ log, lifecycle }) => {
  const config = loadCommandConfig(Config, process.env)
  const health = createHealth()
  const metrics = createMetrics()
  const keys = await startDataKeys(config, { log, lifecycle })
  const command = await wireCommandApi(config, { keys, log, lifecycle, health, metrics })
  const query = await wireQueryApi(config, { hasAdministratorLists: false, log, lifecycle, health, metrics })
  const operator = wireOperatorApi(config, { app: 'api', keys, log, lifecycle, health })
  const describe = openApi(config.DOCS_DEMO_CREDENTIALS ? [demoCredentials] : [])
  const url = await serveApi(config, { log, lifecycle, health, metrics, describe }, async (http) => {
    await http.register(command)
    await http.register(query)
    await http.register(operator)
  })
  return { url }
})
