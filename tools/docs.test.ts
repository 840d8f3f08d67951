import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { variablesOf } from './newcomer/readme.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = globSync(['*.md', '{docs,apps,packages}/**/*.md'], { cwd: root }).filter(
  (page) => !page.includes('node_modules'),
)
const textOf = (page: string) => readFileSync(join(root, page), 'utf8')

/** As GitHub names them. */
const anchorsOf = (page: string) =>
  [...textOf(page).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )

t.test('every relative link of the docs leads to an existing file and heading', async (t) => {
  for (const page of pages)
    for (const [, link = ''] of textOf(page).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)) {
      const [path = '', anchor] = link.split('#')
      const target = path === '' ? page : join(dirname(page), path)
      t.ok(existsSync(join(root, target)), `${page} leads to ${target}`)
      if (anchor !== undefined) t.ok(anchorsOf(target).includes(anchor), `${page} leads to ${link}`)
    }
})

t.test('docs/development.md and docs/map.md name only files and folders that exist', async (t) => {
  const text = textOf('docs/development.md') + textOf('docs/map.md')
  const named = [...text.matchAll(/`((?:apps|packages|projections|bench|deploy|docs|tools)\/[\w./-]+)`/g)]
  t.ok(named.length > 50)
  for (const [, path = ''] of named) t.ok(existsSync(join(root, path)), path)
})

const sources = globSync('{apps,packages,projections}/**/src/**/*.ts', { cwd: root }).filter(
  (path) => !/node_modules|\.test\.ts$|\/(?:testing|bench|fixtures)\//.test(path),
)

t.test('docs/configuration.md lists exactly the variables that the processes decode', async (t) => {
  const page = textOf('docs/configuration.md')
  const documented = variablesOf(page)
  // OpenTelemetry documents its own variables, the embedded event store those of its command line.
  const elsewhere = /^(?:OTEL_|INSECURE$|MAX_APPEND_BYTES$)/
  const schemas = sources.map(textOf).filter((source) => source.includes('config/kinds'))
  const decoded = new Set(
    schemas.flatMap((source) =>
      [...source.matchAll(/^ +([A-Z][A-Z0-9]*_[A-Z0-9_]+): /gm)].map(([, name = '']) => name),
    ),
  )
  t.ok(decoded.size > 30)
  const isDocumented = (name: string) => documented.has(name) || page.includes(`\`WEBHOOK_n_${name}\``)
  for (const name of decoded) t.ok(isDocumented(name) || elsewhere.test(name), `${name} is documented`)
  const code = sources.map(textOf).join('\n')
  for (const name of documented) t.match(code, name, `${name} is in the code`)
})

t.test('README.md has at most 1,500 words', async (t) => {
  t.ok(textOf('README.md').split(/\s+/).length <= 1500)
})
