import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'

const source = fileURLToPath(new URL('..', import.meta.url))
const styles = fileURLToPath(new URL('../../node_modules/@mantine/core/styles', import.meta.url))
const read = (file: string) => readFileSync(join(source, file), 'utf8')

t.test('each component of Mantine that the console imports has its styles', async (t) => {
  const imports = globSync('**/*.tsx', { cwd: source }).flatMap((file) =>
    [...read(file).matchAll(/import \{([^}]*)\} from '@mantine\/core'/g)].flatMap(([, names = '']) =>
      names.split(',').map((name) => name.trim()),
    ),
  )
  const styled = [...new Set(imports)].filter((name) => existsSync(join(styles, `${name}.css`)))
  t.ok(styled.includes('Button'))
  for (const name of styled) t.match(read('layout/mantineStyles.ts'), `/${name}.css'`, name)
})
