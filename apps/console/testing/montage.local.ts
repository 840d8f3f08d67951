import { readFileSync } from 'node:fs'
import { chromium } from 'playwright-core'

const [out, maxH, ...files] = process.argv.slice(2)
const browser = await chromium.launch({ executablePath: '/usr/bin/chromium', args: ['--no-sandbox'] })
const page = await browser.newPage({ viewport: { width: 400, height: 400 } })
await page.setContent(
  `<style>body{margin:0;display:inline-flex;gap:10px;background:#888}div{max-height:${maxH}px;overflow:hidden}img{display:block}</style>` +
    files.map((f) => `<div><img src="data:image/png;base64,${readFileSync(f).toString('base64')}"></div>`).join(''),
)
await page.waitForTimeout(200)
await page.locator('body').screenshot({ path: out! })
await browser.close()
