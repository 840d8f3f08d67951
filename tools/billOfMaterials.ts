// The bill of materials of a release: CycloneDX 1.6, https://cyclonedx.org/docs/1.6/json. `npm sbom --omit dev` leaves out what one
// workspace needs in production and another one only in development, such as `pg`.
import { isWorkspace, type RunningPackage } from './dependencies.ts'

export type Release = {
  readonly version: string
  readonly commit: string
  /** Of the commit, in ISO format: two runs on one commit write the same. */
  readonly date: string
}

/** @param running all packages of production, from the lock file: without Node and the system of the image */
export function billOfMaterials({ version, commit, date }: Release, running: readonly RunningPackage[]): object {
  const [, ...groups] = /^(.{8})(.{4})(.{4})(.{4})(.{12})/.exec(commit) ?? []
  const apps = running.filter(({ place }) => place.startsWith('apps/'))
  return {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: `urn:uuid:${groups.join('-')}`,
    version: 1,
    metadata: {
      timestamp: date,
      component: { 'bom-ref': 'paylog', type: 'application', name: 'paylog', version, ...licenceOf('MIT') },
    },
    components: running.map(componentOf),
    dependencies: [
      { ref: 'paylog', dependsOn: apps.map(({ place }) => place) },
      ...running.map(({ place, needs }) => ({ ref: place, dependsOn: needs })),
    ],
  }
}

function componentOf({ place, name, version, license, integrity, optional }: RunningPackage): object {
  const isOwn = isWorkspace(place)
  const hash =
    integrity?.startsWith('sha512-') && Buffer.from(integrity.slice('sha512-'.length), 'base64').toString('hex')
  return {
    'bom-ref': place,
    type: 'library',
    name,
    version,
    scope: optional ? 'optional' : 'required',
    ...licenceOf(isOwn ? 'MIT' : license),
    // Workspaces are not in the registry.
    ...(!isOwn && { purl: `pkg:npm/${name.replace('@', '%40')}@${version}` }),
    ...(hash && { hashes: [{ alg: 'SHA-512', content: hash }] }),
  }
}

/** An expression, because the schema knows not every licence by its id. */
function licenceOf(expression: string | undefined): { readonly licenses?: readonly object[] } {
  return expression === undefined ? {} : { licenses: [{ expression }] }
}
