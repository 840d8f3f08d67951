import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadConfig } from '@paylog/runtime/config/environment'
import { createHttp } from '@paylog/runtime/http/http'
import { createHealth } from '@paylog/runtime/process/health'
import { stopTimeoutMs } from '@paylog/runtime/process/lifecycle'
import { createLog } from '@paylog/runtime/telemetry/log'
import t, { type Test } from 'tap'
import { type TProperties, Type } from 'typebox'
import { appVariables } from './testing/appVariables.ts'
import { type ComposeService, missingProgram, readCompose, root } from './testing/composeFile.ts'
import { type Manifest, type Pod, podsOf, readManifests, selects, unknownFields } from './testing/manifests.ts'
import { mayConnect, mayLeave } from './testing/networkPolicies.ts'

const run = promisify(execFile)
const forms = ['small', 'large'] as const
const apis = ['api', 'command-api', 'query-api', 'operator-api']
const withoutFile = (variable: string) => variable.replace(/_FILE$/, '')

const missing = await missingProgram('kubectl')
const missingToCompare = missing ?? (await missingProgram('docker-compose', 'openssl'))
const skip = missing !== undefined && `NOT TESTED: ${missing}, the Kubernetes manifests are not read`
const skipComparison =
  missingToCompare !== undefined && `NOT TESTED: ${missingToCompare}, the manifests are not compared`

type Counterparts = {
  readonly what: string
  readonly pod: Pod
  readonly service: ComposeService
}

const composed = (form: (typeof forms)[number]) => readCompose(form === 'small' ? ['small'] : [])

/** Each pod with its service of the compose file. Of the large form, where the stores are the operator's, `grant` has its own. */
async function counterparts(): Promise<readonly Counterparts[]> {
  const found = forms.map(async (form) => {
    const { services } = await composed(form)
    return [...podsOf(await readManifests(form)).values()].flatMap((pod) => {
      const service = services[pod.name]
      return service === undefined ? [] : [{ what: `${pod.name} of ${form}`, pod, service }]
    })
  })
  return (await Promise.all(found)).flat()
}

/** The directory of the secrets that `makeSecrets.sh` makes. */
async function makeSecrets(t: Test): Promise<string> {
  const directory = join(t.testdir({}), 'secrets')
  await run('deploy/makeSecrets.sh', [directory], { cwd: root })
  return directory
}

t.test('kubectl renders base, forms and example, and every object has the schema of its kind', { skip }, async (t) => {
  for (const form of ['base', ...forms, 'example'] as const) {
    const manifests = await readManifests(form)
    t.ok(manifests.length > 10)
    for (const manifest of manifests) {
      const { kind, metadata } = manifest
      t.same(unknownFields(manifest), [], `${form}: ${kind} ${metadata.name} has no unknown field`)
      t.equal(kind === 'Namespace' ? metadata.name : metadata.namespace, 'paylog')
    }
  }
  const worker = (await readManifests('small')).find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'worker',
  )
  if (worker === undefined) throw new Error('there is no worker')
  const changed = (fields: object) => ({ ...worker, spec: { ...worker.spec, ...fields } })
  t.same(unknownFields(changed({ replica: 2 })), ['spec.replica'])
  t.throws(() => unknownFields(changed({ replicas: '2' })), /replicas/)
})

t.test('the example replaces the image and completes the settings', { skip }, async (t) => {
  const worker = podsOf(await readManifests('example')).get('worker')
  t.equal(worker?.container.image, 'registry.example.com/paylog:1.0.0')
  t.match(worker?.environment, { AUTH_URL: /^https/, EDGE_TRUSTED_PROXIES: '10.0.0.0/8', MAX_CONNECTIONS: '10000' })
})

t.test(
  'manifests and compose file agree on commands, images, variables and secrets',
  { skip: skipComparison },
  async (t) => {
    /** Where the network differs, and what the operator of each sets. */
    const differing = ['TRUST_PROXY', 'SITE_ADDRESS', 'AUTH_URL']
    for (const { what, pod, service } of await counterparts()) {
      const { container, environment, secrets } = pod
      const composed = service.environment ?? {}
      t.same(container.args, service.command, `${what}: command`)
      if (service.image !== 'paylog:latest') t.equal(container.image, service.image, `${what}: image`)
      for (const [variable, value] of Object.entries(composed))
        if (value && !differing.includes(variable)) t.equal(environment[variable], value, `${what}: ${variable}`)
      const known = ['PGDATA', ...Object.keys(composed).map(withoutFile)]
      const own = (container.env ?? []).map(({ name }) => withoutFile(name))
      t.same(
        own.filter((variable) => !known.includes(variable)),
        [],
        `${what}: no other variable`,
      )
      const expected = (service.volumes ?? []).flatMap((volume) => {
        const [, folder, directory] = /secrets\/(\w+):(\/run\/[\w-]+):ro$/.exec(volume) ?? []
        return folder === undefined ? [] : [[directory, [`paylog-${folder}`]]]
      })
      const single = (service.secrets ?? []).map(({ source }) => source)
      if (single.length > 0) expected.push(['/run/secrets', single.sort()])
      const mounted = Object.entries(secrets).map(([directory, keys]) => [directory, [...keys].sort()])
      t.same(Object.fromEntries(mounted), Object.fromEntries(expected), `${what}: secrets`)
    }
  },
)

const units: Readonly<Record<string, number>> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30 }
/** Of `512m` in a compose file and `512Mi` in a manifest. */
function bytesOf(size = ''): number {
  const [, number, unit = ''] = /^(\d+)([kmg]?)i?$/i.exec(size) ?? []
  return Number(number) * (units[unit.toLowerCase()] ?? 1)
}

t.test('every pod has the privileges and the memory of its container', { skip: skipComparison }, async (t) => {
  for (const { what, pod, service } of await counterparts()) {
    const { capabilities } = pod.container.securityContext
    t.same(capabilities?.drop, service.cap_drop, `${what}: dropped capabilities`)
    t.same(capabilities?.add, service.cap_add, `${what}: capabilities`)
    t.equal(pod.container.securityContext.readOnlyRootFilesystem, service.read_only, `${what}: root file system`)
    t.equal(bytesOf(pod.container.resources.limits.memory), bytesOf(service.mem_limit), `${what}: memory`)
  }
  for (const form of forms)
    for (const { name, spec, container } of podsOf(await readManifests(form)).values()) {
      t.match(
        spec,
        {
          automountServiceAccountToken: false,
          enableServiceLinks: false,
          securityContext: { runAsNonRoot: true, runAsUser: Number, seccompProfile: { type: 'RuntimeDefault' } },
        },
        name,
      )
      t.equal(container.securityContext.allowPrivilegeEscalation, false, name)
      t.same(container.securityContext.capabilities?.drop, ['ALL'], name)
      const { requests, limits } = container.resources
      t.ok(requests.cpu && bytesOf(requests.memory) <= bytesOf(limits.memory), `${name}: resources`)
    }
  const running = [...podsOf(await readManifests('small')).values()].filter(({ name }) => name !== 'migrate')
  const requested = running.map(({ container }) => bytesOf(container.resources.requests.memory))
  t.ok(requested.reduce((sum, bytes) => sum + bytes) <= 2 ** 30, 'the small form requests at most 1 GiB')
})

/** Of `30s` and `1m0s`. */
function secondsOf(duration: string): number {
  const [, minutes = 0, seconds = 0] = /^(?:(\d+)m)?(?:(\d+)s)?$/.exec(duration) ?? []
  return Number(minutes) * 60 + Number(seconds)
}

t.test('probes ask what the apps serve, and a stop waits for them', { skip: skipComparison }, async (t) => {
  const http = createHttp({ log: createLog({ app: 'test', level: 'silent' }) })
  await http.register(createHealth().plugin)
  t.teardown(() => http.close())
  for (const { what, pod, service } of await counterparts()) {
    const { container, environment, spec } = pod
    const pauseMs = Number(container.lifecycle?.preStop.exec.command.join().match(/, (\d+)\)$/)?.[1] ?? 0)
    const graceMs = spec.terminationGracePeriodSeconds * 1_000 - pauseMs
    t.ok(graceMs > stopTimeoutMs({}), `${what}: longer than STOP_TIMEOUT`)
    const composed = service.stop_grace_period
    if (composed !== undefined) t.equal(graceMs, secondsOf(composed) * 1_000, `${what}: as long as in compose`)
    const check = service.healthcheck
    if (check === undefined) continue
    const { startupProbe, readinessProbe: ready, livenessProbe } = container
    const times = [`${ready?.periodSeconds}s`, `${ready?.timeoutSeconds}s`, ready?.failureThreshold]
    t.same(times, [check.interval, check.timeout, check.retries], `${what}: times`)
    const asked = check.test.join(' ')
    const [, port, path] = /127\.0\.0\.1:(\d+)(\/health\/\w+)/.exec(asked) ?? []
    if (path === undefined) t.match(asked, ready?.exec?.command.join(' '), `${what}: command of the check`)
    else {
      t.equal(ready?.httpGet?.path, path, `${what}: path`)
      t.equal(container.ports?.[0]?.containerPort, Number(port), `${what}: port`)
      t.equal(environment.HEALTH_PORT ?? environment.PORT, port, `${what}: the port on which it listens`)
    }
    // Postgres recovers by itself, and must not be ended meanwhile.
    const probes = pod.name === 'postgres' ? [startupProbe, ready] : [startupProbe, ready, livenessProbe]
    for (const probe of probes) {
      if (path !== undefined) t.ok(http.hasRoute({ method: 'GET', url: probe?.httpGet?.path ?? '' }), `${what}: served`)
      t.ok(probe && probe.failureThreshold * probe.periodSeconds >= 30, `${what}: patient`)
    }
  }
})

t.test('the apps accept the variables of the manifests', { skip: skipComparison }, async (t) => {
  const directory = await makeSecrets(t)
  const url = join(directory, 'eventstore_url')
  await writeFile(url, (await readFile(url, 'utf8')).replace('/run/secrets', directory))
  const { 'command-api': command, 'query-api': query, 'operator-api': operator } = appVariables
  const schemas: Readonly<Record<string, TProperties>> = { ...appVariables, api: { ...command, ...query, ...operator } }
  for (const form of forms)
    for (const { name, environment } of podsOf(await readManifests(form)).values()) {
      const variables = schemas[name]
      if (variables === undefined) continue
      const given = Object.entries(environment).map(([key, value]) => [key, value.replace('/run/secrets', directory)])
      const env = { AUTH_URL: 'https://identity.example.com', ...Object.fromEntries(given) }
      t.doesNotThrow(() => loadConfig(Type.Object(variables), env), `${name} of ${form}`)
    }
})

/** The Services, by name, with the pods that they select. */
function servicesOf(manifests: readonly Manifest[]) {
  const pods = [...podsOf(manifests).values()]
  const services = manifests.filter(({ kind }) => kind === 'Service')
  return new Map(
    services.map(({ metadata, spec }) => {
      const selected = pods.filter(({ labels }) => selects({ matchLabels: spec?.selector ?? {} }, labels))
      return [metadata.name, { pods: selected, ports: spec?.ports ?? [] }] as const
    }),
  )
}

t.test('every selector selects a pod, and every port of a Service is one of its pods', { skip }, async (t) => {
  for (const form of forms) {
    const manifests = await readManifests(form)
    const pods = podsOf(manifests)
    const services = servicesOf(manifests)
    for (const [name, { pods, ports }] of services) {
      t.ok(pods.length > 0, `${form}: Service ${name}`)
      for (const { container } of pods)
        for (const { targetPort } of ports)
          t.ok(
            container.ports?.some((port) => port.name === targetPort),
            `${form}: ${name} has the port ${targetPort}`,
          )
    }
    for (const { kind, metadata, spec } of manifests) {
      const what = `${form}: ${kind} ${metadata.name}`
      const selector = kind === 'NetworkPolicy' ? spec?.podSelector : spec?.selector
      if (kind === 'Service' || selector === undefined) continue
      const labels = spec?.template?.metadata.labels
      if (labels === undefined)
        t.ok(
          [...pods.values()].some((pod) => selects(selector, pod.labels)),
          what,
        )
      else t.ok(selects(selector, labels), what)
      if (spec?.serviceName !== undefined) t.ok(services.has(spec.serviceName), what)
    }
    const protectedNames = manifests.flatMap(({ kind, metadata }) =>
      kind === 'PodDisruptionBudget' ? [metadata.name] : [],
    )
    const several = [...pods.values()].filter(({ replicas }) => replicas > 1)
    t.same(protectedNames.sort(), several.map(({ name }) => name).sort(), `${form}: budgets`)
    for (const { name, spec, labels } of several)
      t.ok(
        spec.topologySpreadConstraints?.every(({ labelSelector }) => selects(labelSelector, labels)),
        name,
      )
  }
  const [ingress] = (await readManifests('example')).filter(({ kind }) => kind === 'Ingress')
  t.match(JSON.stringify(ingress?.spec?.rules), '"service":{"name":"edge","port":{"name":"http"}}')
})

t.test('every volume, setting and secret of a pod exists', { skip: skipComparison }, async (t) => {
  const directory = await makeSecrets(t)
  const create = ['create', 'secret', 'generic', 'paylog', `--from-file=${directory}`, '--dry-run=client', '-o', 'json']
  const made: Manifest = JSON.parse((await run('kubectl', create)).stdout)
  for (const form of forms) {
    const manifests = await readManifests(form)
    const maps = new Map(
      manifests.flatMap(({ kind, metadata, data }) => (kind === 'ConfigMap' ? [[metadata.name, data]] : [])),
    )
    for (const { metadata, spec } of manifests) {
      const pod = podsOf(manifests).get(metadata.name)
      if (spec?.template === undefined || pod === undefined) continue
      const { container, environment, secrets } = pod
      const claims = (spec.volumeClaimTemplates ?? []).map((claim) => claim.metadata.name)
      const volumes = [...pod.spec.volumes.map(({ name }) => name), ...claims].sort()
      t.same(container.volumeMounts.map(({ name }) => name).sort(), volumes, `${pod.name}: every volume is mounted`)
      for (const { configMap, secret } of pod.spec.volumes) {
        if (configMap !== undefined) t.ok(maps.has(configMap.name), configMap.name)
        for (const { key, path } of secret?.items ?? []) {
          t.ok(key in (made.data ?? {}), `${pod.name}: makeSecrets.sh makes ${key}`)
          t.equal(path, key)
        }
      }
      for (const { configMapRef } of container.envFrom ?? []) t.ok(maps.has(configMapRef.name), configMapRef.name)
      for (const { name, valueFrom } of container.env ?? []) {
        if (valueFrom !== undefined) t.ok(environment[name], `${pod.name}: ${name} is a setting`)
        const [, key] = /^\/run\/secrets\/(.+)$/.exec(environment[name] ?? '') ?? []
        if (key !== undefined) t.ok(secrets['/run/secrets']?.includes(key), `${pod.name}: ${key} is mounted`)
      }
    }
  }
})

t.test(
  'network policies allow what the networks of the compose file connect, and nothing else',
  { skip: skipComparison },
  async (t) => {
    /** The network over which others reach a store, by its port. */
    const stores: Readonly<Record<number, string>> = { 5432: 'sql', 2113: 'log' }
    for (const form of forms) {
      const { services } = await composed(form)
      const networksOf = ({ name }: Pod) => Object.keys(services[name]?.networks ?? {})
      const isNeeded = (from: Pod, to: Pod, port: number) => {
        const store = stores[port]
        if (store !== undefined) return networksOf(from).includes(store)
        if (to.name === 'edge') return true
        if (from.name === 'edge') return apis.includes(to.name)
        return (from.environment.HEALTH_URLS ?? '').includes(`//${to.name}:`)
      }
      const manifests = await readManifests(form)
      const pods = [...podsOf(manifests).values()]
      for (const from of pods) {
        const isOutward =
          from.name !== 'edge' && ['edge', 'outgoing'].some((network) => networksOf(from).includes(network))
        t.equal(mayLeave(manifests, from), isOutward, `${form}: ${from.name} to the outside`)
        for (const to of pods)
          for (const { containerPort } of to.container.ports ?? []) {
            if (from === to || to.name === 'edge') continue
            const { connects, enters } = mayConnect(manifests, from, to, containerPort)
            const what = `${form}: ${from.name} to ${to.name}, ${containerPort}`
            if (isNeeded(from, to, containerPort)) t.ok(connects, `${what} is allowed`)
            else t.notOk(enters, `${what} is not allowed`)
          }
      }
    }
  },
)
