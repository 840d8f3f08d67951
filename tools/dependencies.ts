// The dependencies of the project, from its package.json files and its lock file.
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { readLockFile } from './lockFile.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const own = '@paylog/'

type Manifest = {
  readonly name: string
  readonly license?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly devDependencies?: Readonly<Record<string, string>>
}
type Installed = Readonly<Record<string, LockedPackage>>
type LockedPackage = {
  readonly license?: string
  readonly link?: boolean
  readonly resolved?: string
  readonly dependencies?: Readonly<Record<string, string>>
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const namesIn = (versions: Readonly<Record<string, string>> = {}) => Object.keys(versions)
const isExternal = (name: string) => !name.startsWith(own)

/** Paths of the workspaces, from the root. */
async function workspacePaths(): Promise<string[]> {
  const within = async (folder: string) =>
    (await readdir(join(root, folder), { withFileTypes: true }))
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => `${folder}/${name}`)
  return [...(await within('apps')), ...(await within('packages')), 'projections', 'deploy', '']
}

async function readManifest(path: string): Promise<Manifest> {
  return JSON.parse(await readFile(join(root, path, 'package.json'), 'utf8'))
}

/** @returns names and licences of direct dependencies: those that the apps need in production, and the others */
export async function directDependencies(): Promise<{
  readonly production: ReadonlyMap<string, string>
  readonly development: ReadonlyMap<string, string>
}> {
  const paths = await workspacePaths()
  const manifests = await Promise.all(paths.map(readManifest))
  const byName = new Map(manifests.map((manifest) => [manifest.name, manifest]))
  const required = new Set<string>()
  const visit = (name: string) => {
    for (const needed of namesIn(byName.get(name)?.dependencies)) {
      if (required.has(needed)) continue
      required.add(needed)
      visit(needed)
    }
  }
  for (const [index, { name }] of manifests.entries()) if (paths[index]?.startsWith('apps/')) visit(name)
  const all = manifests.flatMap(({ dependencies, devDependencies }) => [
    ...namesIn(dependencies),
    ...namesIn(devDependencies),
  ])
  const licenceOf = async (name: string) => {
    const [path = ''] = paths.filter((_, index) => {
      const { dependencies, devDependencies } = manifests[index] ?? {}
      return name in { ...dependencies, ...devDependencies }
    })
    const nested = await readManifest(join(path, 'node_modules', name)).catch(() => undefined)
    return (nested ?? (await readManifest(join('node_modules', name)))).license ?? 'unknown'
  }
  const withLicences = async (names: readonly string[]) =>
    new Map(await Promise.all([...new Set(names)].sort().map(async (name) => [name, await licenceOf(name)] as const)))
  return {
    production: await withLicences([...required].filter(isExternal)),
    development: await withLicences(all.filter((name) => isExternal(name) && !required.has(name))),
  }
}

/** @returns the packages that run in production by licence, without those of other platforms */
export async function productionLicences(): Promise<ReadonlyMap<string, readonly string[]>> {
  const packages: Installed = (await readLockFile()).packages
  const found = new Set<string>()
  const visit = (path: string) => {
    const { dependencies, optionalDependencies } = packages[path] ?? {}
    for (const name of [...namesIn(dependencies), ...namesIn(optionalDependencies)]) {
      const place = resolve(packages, path, name)
      if (place === undefined || found.has(place)) continue
      found.add(place)
      visit(place)
    }
  }
  for (const path of await workspacePaths()) if (path.startsWith('apps/')) visit(path)
  const byLicence = new Map<string, Set<string>>()
  for (const place of found) {
    const name = place.split('node_modules/').at(-1) ?? ''
    if (!place.includes('node_modules/')) continue
    // Packages of other platforms are not installed, so their licence is unknown here.
    const licence = packages[place]?.license
    if (licence === undefined) continue
    byLicence.set(licence, (byLicence.get(licence) ?? new Set()).add(name))
  }
  return new Map([...byLicence].sort().map(([licence, names]) => [licence, [...names].sort()]))
}

/** Resolves a package from a place in the lock file as Node does. Workspace links are followed. */
function resolve(packages: Installed, from: string, name: string): string | undefined {
  for (let place = from; ; place = place.slice(0, Math.max(place.lastIndexOf('/'), 0))) {
    const path = `${place === '' ? '' : `${place}/`}node_modules/${name}`
    const known = packages[path]
    if (known !== undefined) return known.link ? known.resolved : path
    if (place === '') return undefined
  }
}
