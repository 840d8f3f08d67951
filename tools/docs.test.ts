import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

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

t.test('docs/development.md names only files and folders that exist', async (t) => {
  const named = [
    ...textOf('docs/development.md').matchAll(/`((?:apps|packages|projections|bench|deploy|docs|tools)\/[\w./-]+)`/g),
  ]
  t.ok(named.length > 50)
  for (const [, path = ''] of named) t.ok(existsSync(join(root, path)), path)
})

t.test('README.md has at most 1,500 words', async (t) => {
  t.ok(textOf('README.md').split(/\s+/).length <= 1500)
})
