// node shots.local.ts OUT "path|name" ... ; env W=1280,390 S=light,dark SESSION
import { mkdirSync, readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'

const { baseUrl, id } = JSON.parse(readFileSync('/tmp/w-money-dev.json', 'utf8'))
const out = process.argv[2]!
mkdirSync(out, { recursive: true })
const browser = await chromium.launch({
  executablePath: '/usr/bin/chromium',
  args: ['--disable-dev-shm-usage', '--no-sandbox'],
})
for (const w of (process.env.W ?? '1280,390').split(',').map(Number))
  for (const scheme of (process.env.S ?? 'light,dark').split(',')) {
    const context = await browser.newContext({
      locale: 'en-GB',
      timezoneId: 'Europe/Madrid',
      viewport: { width: w, height: w < 500 ? 800 : 900 },
      colorScheme: scheme as 'light',
    })
    const page = await context.newPage()
    page.on('pageerror', (e) => console.log('PAGEERROR', e.message))
    page.on('console', (m) => m.type() === 'error' && console.log('CONSOLE', m.text()))
    await page.goto(`${baseUrl}/console/#session=${process.env.SESSION ?? 'demo-admin-session'}`)
    await page.waitForTimeout(500)
    for (const spec of process.argv.slice(3)) {
      const [path, name, js] = spec.split('|')
      await page.goto(`${baseUrl}/console${path!.replace('$id', id)}`)
      await page.waitForLoadState('networkidle')
      await page.waitForTimeout(2500)
      if (js) {
        await eval(`(async () => { ${js} })()`)
        await page.waitForTimeout(300)
      }
      const width = await page.evaluate('document.documentElement.scrollWidth')
      if (Number(width) > w) console.log('OVERFLOW', path, w, width)
      await page.screenshot({ path: `${out}/${name}-${w}-${scheme}.png`, fullPage: process.env.FULL !== '0' })
    }
    await context.close()
  }
await browser.close()
