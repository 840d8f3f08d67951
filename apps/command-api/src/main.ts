// Runs the write API as its own process.
// biome-ignore-all lint/style/noProcessEnv: the webhook endpoints have no fixed list of variables, so the whole environment is passed.

import { wireCommandApi } from '@paylog/commands/commandApi'
import { commandVariables, loadCommandConfig } from '@paylog/commands/config'
import { startDataKeys } from '@paylog/privacy/startDataKeys'
import { apiVariables, serveApi } from '@paylog/runtime/http/apiServer'
import { warnWithoutRedis } from '@paylog/runtime/http/readYourWrites'
import { createHealth } from '@paylog/runtime/process/health'
import { runApp } from '@paylog/runtime/process/lifecycle'
import { createMetrics } from '@paylog/runtime/telemetry/metrics'
import { Type } from 'typebox'

const Config = Type.Object({ ...apiVariables, ...commandVariables })

runApp('command-api', async ({ log, lifecycle }) => {
  const config = loadCommandConfig(Config, process.env)
  warnWithoutRedis(config, log)
  const health = createHealth()
  const metrics = createMetrics()
  const keys = await startDataKeys(config, { log, lifecycle })
  const api = await wireCommandApi(config, { keys, log, lifecycle, health, metrics })
  return { url: await serveApi(config, { log, lifecycle, health, metrics }, api) }
})
