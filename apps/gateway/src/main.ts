// One base URL for both sides: the write side and the read side on one Fastify, with one OpenAPI document.
// biome-ignore-all lint/style/noProcessEnv: the webhook nodes have no fixed list of variables, so all of them are handed over.
import { commandVariables, loadWithNodes } from '@paylog/command-api/config'
import { wireCommandApi } from '@paylog/command-api/wiring'
import { queryVariables } from '@paylog/query-api/config'
import { wireQueryApi } from '@paylog/query-api/wiring'
import { port, text } from '@paylog/runtime/config'
import { createHealth } from '@paylog/runtime/health'
import { createHttp } from '@paylog/runtime/http'
import { runApp } from '@paylog/runtime/lifecycle'
import { createMetrics } from '@paylog/runtime/metrics'
import { Type } from 'typebox'
import { openApi } from './openApi.ts'
import { rememberPositions } from './rememberPositions.ts'

const Config = Type.Object({ HOST: text('127.0.0.1'), PORT: port(8080), ...commandVariables, ...queryVariables })

runApp('gateway', async ({ log, lifecycle }) => {
  const config = loadWithNodes(Config, process.env)
  const health = createHealth()
  const command = await wireCommandApi(config, { lifecycle, health })
  const query = wireQueryApi(config, { log, lifecycle, health })
  const http = createHttp({ log })
  await openApi(http)
  rememberPositions(http)
  await http.register(command)
  await http.register(query)
  await http.register(health.plugin)
  await http.register(createMetrics().plugin)
  lifecycle.add('http', () => http.close())
  return { url: await http.listen({ host: config.HOST, port: config.PORT }) }
})
