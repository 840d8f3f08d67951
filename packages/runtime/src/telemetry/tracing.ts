// Traces of what the apps do, sent to a collector when one is named.
import { setTimeout as sleep } from 'node:timers/promises'
import { type DiagLogger, DiagLogLevel, diag } from '@opentelemetry/api'
import type { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { ConfigError, loadConfig } from '@paylog/config/environment'
import { bool, oneOf, text, url } from '@paylog/config/kinds'
import { type StaticDecode, Type } from 'typebox'
import type { Logger } from './log.ts'

/** Everything else that OpenTelemetry names for its SDK (sampler, batches, timeout, certificates) is read by the SDK itself. */
export const tracingVariables = {
  OTEL_EXPORTER_OTLP_ENDPOINT: Type.Optional(url(['http', 'https'])),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: Type.Optional(url(['http', 'https'])),
  /** `name=value`, comma-separated, percent-encoded: a collector's key, mostly. */
  OTEL_EXPORTER_OTLP_HEADERS: Type.Optional(text()),
  OTEL_EXPORTER_OTLP_PROTOCOL: Type.Optional(oneOf(['http/json', 'http/protobuf'])),
  OTEL_SDK_DISABLED: bool(false),
}
const TracingConfig = Type.Object(tracingVariables)
type TracingConfig = Readonly<StaticDecode<typeof TracingConfig>>

/** A collector that does not answer costs a stop no more than this. */
const flushTimeoutMs = 3_000
const warningIntervalMs = 60_000

/**
 * Starts sending traces when `OTEL_EXPORTER_OTLP_ENDPOINT` is set; without it nothing is loaded, and spans cost nothing. A
 * collector that is away disturbs nobody: spans wait in a queue with an end, are dropped beyond it, and the log says so
 * now and then.
 *
 * @param app the service is named `paylog-<app>`, unless `OTEL_SERVICE_NAME` says otherwise
 * @returns sends what is left, within a bound, and ends; nothing when there is nobody to send to
 * @throws ConfigError for an endpoint that is no URL
 */
export async function startTracing(app: string, log: Pick<Logger, 'warn'>): Promise<(() => Promise<void>) | undefined> {
  const config = loadConfig(TracingConfig)
  const { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_SDK_DISABLED: isDisabled } = config
  if (endpoint === undefined || isDisabled) return undefined
  const headers = headersIn(config.OTEL_EXPORTER_OTLP_HEADERS)
  const [{ BatchSpanProcessor, NodeTracerProvider }, { OTLPTraceExporter }, resources] = await Promise.all([
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ])
  const reportFailure = throttled((reason) => log.warn({ reason }, 'traces are not sent, or not all of them'))
  diag.setLogger(configurationLogger(log), DiagLogLevel.WARN)
  const exporter = new OTLPTraceExporter({ url: urlOf(endpoint, config), headers })
  const provider = new NodeTracerProvider({
    // What OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES say comes last, and wins.
    resource: resources
      .defaultResource()
      .merge(resources.resourceFromAttributes({ 'service.name': `paylog-${app}` }))
      .merge(resources.detectResources({ detectors: [resources.envDetector] })),
    spanProcessors: [new BatchSpanProcessor(reportFailures(exporter, reportFailure))],
  })
  diag.setLogger(droppedSpanLogger(reportFailure), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true })
  provider.register()
  return async () => {
    const ended = provider.shutdown().catch(() => undefined)
    await Promise.race([ended, sleep(flushTimeoutMs, undefined, { ref: false })])
  }
}

/** As the specification of the exporter has it: the general endpoint is a base, the one for traces the whole URL. */
function urlOf(endpoint: string, { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: traces }: TracingConfig): string {
  return traces ?? `${endpoint.replace(/\/$/, '')}/v1/traces`
}

function headersIn(given: string | undefined): Record<string, string> {
  try {
    const pairs = (given ?? '').split(',').filter((pair) => pair.trim() !== '')
    return Object.fromEntries(
      pairs.map((pair) => {
        const [, name, value] = /^\s*([\w!#$%&'*+.^`|~-]+)\s*=(.*)$/.exec(pair) ?? []
        if (name === undefined || value === undefined) throw new URIError('no header')
        return [name, decodeURIComponent(value.trim())]
      }),
    )
  } catch {
    throw new ConfigError(['OTEL_EXPORTER_OTLP_HEADERS must be headers such as x-key=abc,x-tenant=shop'])
  }
}

type Exporter = Pick<OTLPTraceExporter, 'export' | 'shutdown' | 'forceFlush'>

/** The answer of a collector stays out of the log: it may quote the key that it was sent. */
function reportFailures(exporter: OTLPTraceExporter, reportFailure: (reason: string) => void): Exporter {
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.error) reportFailure(reasonOf(result.error))
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: () => exporter.forceFlush(),
  }
}

const reasonOf = (error: Error) => ('code' in error && error.code !== undefined ? String(error.code) : error.name)

function throttled(warn: (reason: string) => void): (reason: string) => void {
  let warnedAt = Number.NEGATIVE_INFINITY
  return (reason) => {
    if (performance.now() - warnedAt < warningIntervalMs) return
    warnedAt = performance.now()
    warn(reason)
  }
}

const silent = () => undefined

/** What the SDK finds wrong with its variables while it starts. It goes on with their defaults, as it is specified. */
function configurationLogger(log: Pick<Logger, 'warn'>): DiagLogger {
  const say = (problem: string) => log.warn({ problem }, 'Doubtful configuration of traces')
  return { error: say, warn: say, info: silent, debug: silent, verbose: silent }
}

/** Everything else that it says later is what an export said already. */
function droppedSpanLogger(complain: (reason: string) => void): DiagLogger {
  const warn = (message: string) => {
    if (message.startsWith('Dropped ')) complain(message)
  }
  return { error: silent, warn, info: silent, debug: silent, verbose: silent }
}
