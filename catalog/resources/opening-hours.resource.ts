import { defineResource } from 'trivet'

const timeZone = 'Europe/Dublin'
const weekday = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'long' })
const clock = new Intl.DateTimeFormat('en-GB', {
  timeZone, hour: '2-digit', minute: '2-digit', hourCycle: 'h23'
})

const usual = { opens: '09:30', closes: '18:00' }
const hours = new Map([
  ['Monday', usual],
  ['Tuesday', usual],
  ['Wednesday', usual],
  ['Thursday', { opens: '09:30', closes: '20:00' }],
  ['Friday', usual],
  ['Saturday', { opens: '10:00', closes: '17:00' }]
])

export default defineResource({
  uri: 'shop://opening-hours',
  name: 'opening-hours',
  title: 'Opening hours',
  description: 'When the shop is open, and whether it is open now. Closed on Sundays',
  mimeType: 'application/json',
  read () {
    const now = new Date()
    const [day, time] = [weekday.format(now), clock.format(now)]
    const today = hours.get(day)
    const open = today !== undefined && today.opens <= time && time < today.closes
    return JSON.stringify(
      { open, now: `${day} ${time}`, timeZone, hours: Object.fromEntries(hours) }, undefined, 2
    )
  }
})
