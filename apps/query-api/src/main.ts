// The query API: the read side as its own process.

import { queryVariables } from '@paylog/queries/config'
import { wireQueryApi } from '@paylog/queries/queryApi'
import { loadConfig } from '@paylog/runtime/config/environment'
import { apiVariables, serveApi } from '@paylog/runtime/http/apiServer'
import { warnWithoutRedis } from '@paylog/runtime/http/readYourWrites'
import { createHealth } from '@paylog/runtime/process/health'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { Type } from 'typebox'

const Config = Type.Object({ ...apiVariables, ...queryVariables })

runApp('query-api', async ({ log, lifecycle }) => {
  const config = loadConfig(Config)
  warnWithoutRedis(config, log)
  const health = createHealth()
  const metrics = createMetrics()
  const api = await wireQueryApi(config, { hasAdministratorLists: true, log, lifecycle, health, metrics })
  return { url: await serveApi(config, { log, lifecycle, health, metrics }, api) }
})
